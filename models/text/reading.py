"""JSON and YAML that others wrote: what nests too deeply, multiplies itself or holds no number is refused.

Every refusal is the error that the reader gives for a text that is none, so that a caller has one case.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

DEEPEST = 200  # brackets that stand open at one time
MOST_NODES = 100_000  # of a YAML document, what its aliases stand for counted each time


def from_json(text: str | bytes) -> Any:  # noqa: ANN401  (whatever the text holds)
    """What a JSON text says; `json.JSONDecodeError` also where it is too deep or a number too long."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("it nests too deeply", "", 0) from None
    except UnicodeDecodeError:
        raise json.JSONDecodeError("it is not UTF-8", "", 0) from None
    except ValueError:
        raise json.JSONDecodeError("a number is too long", "", 0) from None


def from_yaml(text: str, *, quick: bool = False) -> Any:  # noqa: ANN401
    """What a YAML text says; `yaml.YAMLError` also where it is too deep, multiplies, or a date is none.

    `quick` takes the reader in C, where it is there: the pure one takes most of the time over many files.
    """
    import yaml

    kind: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if quick else yaml.SafeLoader
    if _depth(text) > DEEPEST:
        raise yaml.YAMLError("it nests too deeply")
    loader = kind(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MOST_NODES:
            raise yaml.YAMLError("its aliases multiply")
        return loader.construct_document(node)
    except RecursionError:
        raise yaml.YAMLError("it nests too deeply") from None
    except (ValueError, OverflowError) as error:
        raise yaml.YAMLError("a value is none of its kind") from error
    finally:
        loader.dispose()


def _depth(text: str) -> int:
    """An upper bound of how deep a text nests: brackets, and signs of a list in one line, that stand open."""
    deepest = open_ = 0
    for line in text.split("\n"):
        listed = line.count("- ") + line.count("? ") + line.count(": ")
        for char in line:
            open_ += (char in "[{") - (char in "]}")
            open_ = max(open_, 0)
        deepest = max(deepest, open_ + listed, (len(line) - len(line.lstrip(" "))))
    return deepest


def _size(node: yaml.Node, known: dict[int, float]) -> float:
    """How many nodes a document has once each alias is written out; infinite for one that holds itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")  # while its parts are counted
        parts = node.value if isinstance(node.value, list) else ()
        each = (part for item in parts for part in (item if isinstance(item, tuple) else (item,)))
        known[id(node)] = 1 + sum(_size(part, known) for part in each)
    return known[id(node)]
