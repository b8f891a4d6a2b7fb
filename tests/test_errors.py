"""The errors: one root, one tree, one exit code each."""

from __future__ import annotations

import re

import pytest
from mem0_dream import errors
from mem0_dream.errors import DreamError

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, DreamError)
]
DRAWN = dict(re.findall(r"(\w+Error) \((\d)\)", errors.__doc__ or ""))


def test_the_drawn_tree_names_every_class_with_its_exit_code() -> None:
    assert {name: int(code) for name, code in DRAWN.items()} == {
        found.__name__: found.exit_code for found in CLASSES
    }


def test_exit_codes_tell_kinds_apart() -> None:
    codes: dict[int, list[type[DreamError]]] = {}
    for found in CLASSES:
        codes.setdefault(found.exit_code, []).append(found)
    for same in codes.values():
        roots = [
            one for one in same if not any(one is not other and issubclass(one, other) for other in same)
        ]
        assert len(roots) == 1, same
    assert sorted(codes) == list(range(1, 9))


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_carries_the_ids_it_is_about(kind: type[DreamError]) -> None:
    error = kind("Memory a1 is gone.", ids=("a1",))
    assert (str(error), error.ids, kind("x").ids) == ("Memory a1 is gone.", ("a1",), ())
    assert isinstance(error, DreamError)
