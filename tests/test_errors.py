"""The errors: one root, and exit codes that tell kinds apart."""

import pytest
from mem0_dream import errors
from mem0_dream.errors import DreamError

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, DreamError)
]


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
