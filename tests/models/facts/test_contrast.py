"""Columns that set the frames of two texts side by side, and the version that all columns belong to."""

import hashlib
import json
from pathlib import Path

import pytest
from mem0_dream.models.bundled.columns import FEATURE_NAMES, guard_row, text_row
from mem0_dream.models.facts.attributes import CONTRAST_NAMES, contrast
from mem0_dream.models.guards import FACTS_VERSION
from rows import rows_of

TABLE = Path(__file__).with_name("pairs.tsv")
DIGESTS = {3: "8057b1a2d2c94fbb"}
"""What the rows of these pairs are under each version of the guards; a new version gets a new line."""

PAIRS = [
    ("Lives in Oslo", "Used to live in Bergen, now in Oslo"),
    ("Takes 20 mg at 5 pm", "Takes 40 mg at 17:00 on Mondays"),
    ("Anna reports to Ben", "Ben reports to Anna"),
    ("Ben Roth's cats are filmed by Anna Lind", "Ben Roth films Anna Lind's cats"),
    ("The API runs on Python 3.9 in production", "The API runs on Python 3.12 in staging"),
    ("Does not use tabs", "Uses tabs unless the file is a Makefile"),
    ("Plans to move to Porto in 2026", "Has moved to Porto in May 2027"),
    ("2 tablets daily", "One tablet twice a day"),
    ("Every bill is paid by card", "Every bill except rent is paid by card"),
    ("Invoice INV-204 is at docs/a.md, see https://a.example", "Invoice INV-205 is at docs/b.md"),
]


@pytest.mark.parametrize(("name", "a", "b"), rows_of(TABLE, "column"))
def test_each_column_sees_its_case(name: str, a: str, b: str) -> None:
    there, none = (dict(zip(CONTRAST_NAMES, contrast(a, other), strict=True)) for other in (b, a))
    assert there[name] == 1.0
    assert none[name] == float(name == "same_bag")


def test_the_frame_is_what_stands_around_the_values() -> None:
    assert contrast("The job now ends after 5 minutes", "The job ends after 9 minutes")[0] == 1.0
    assert contrast("The job ends", "The shop opens")[0] == 0.0
    assert CONTRAST_NAMES[0] == "frame_overlap"


def test_a_change_of_the_columns_is_a_change_of_the_version() -> None:
    rows = [[*text_row(a, b), *guard_row(a, b), *contrast(a, b)] for a, b in PAIRS]
    text = json.dumps([FEATURE_NAMES, rows])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[FACTS_VERSION]
