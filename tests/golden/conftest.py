"""`pytest tests/golden --golden-update` writes what is printed now over what was expected."""

from collections.abc import Callable
from pathlib import Path

import pytest

EXPECTED = Path(__file__).parent / "expected"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="Rewrite the golden files.")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:

    def compare(name: str, text: str) -> None:
        file = EXPECTED / name
        if request.config.getoption("--golden-update", default=False):
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
        assert text == file.read_bytes().decode(), f"{file} differs; see --golden-update"

    return compare
