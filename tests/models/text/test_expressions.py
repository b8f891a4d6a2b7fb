"""No expression of the package takes more than a bounded number of steps for each character of any text."""

import ast
import functools
import importlib
import math
import pkgutil
import re
from pathlib import Path

import mem0_dream
import pytest
from expressions import steps
from mem0_dream.models.text import tables
from shipped import shipped_modules

MOST = 1000  # steps for one character
PACKAGE = Path(mem0_dream.__file__).parent
CALLS = {
    f"re.{name}" for name in ("search", "split", "sub", "subn", "findall", "finditer", "match", "fullmatch")
}
AT_THE_START = {"match", "fullmatch"}
OF_TABLES = "pipeline/rules/hygiene.py:"  # reads a table of the package
LINEAR = {
    "models/markdown_blocks.py _LINE": "what its first part reads and does not take, its last part takes",
    "patterns key_block": "the end of the text closes it too, so that it takes all that it has read",
    "patterns any_quotation": "the end of the text closes the one part that has no bound",
    "patterns one_sentence": "it is asked of single lines, and takes each to its end",
    "pipeline/rules/hygiene.py _ORDERS": "between its words stand short gaps, in which only these words are tried again",
}  # fmt: skip


@functools.cache
def sources():
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in shipped_modules()}


def searched(name, text):
    """Whether anything but the start of a text may be looked at by an expression of this name."""
    return (
        not (
            {each or "search" for each in re.findall(rf"(?<!\w){name}(?:\.(\w+)|(?!\w|\.| =|:))", text)}
            or {"search"}
        )
        <= AT_THE_START
    )


def of_table():
    whole = "\n".join(sources().values())
    for name in tables._table("patterns"):
        yield f"patterns {name}", tables.spelled_out(name), 0, searched(rf'(?:pattern\()?"{name}"\)?', whole)


def of_modules():
    for found in pkgutil.walk_packages([str(PACKAGE)], "mem0_dream."):
        file = found.name.removeprefix("mem0_dream.").replace(".", "/")
        file = next((name for name in (f"{file}.py", f"{file}/__init__.py") if name in sources()), None)
        if file is None or file.endswith("__main__.py"):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            for each in patterns_in(value):
                source = each.pattern if isinstance(each.pattern, str) else each.pattern.decode("latin1")
                yield (
                    f"{file} {name}",
                    source,
                    each.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL),
                    searched(name, sources()[file]),
                )


def patterns_in(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (each for item in value.values() for each in patterns_in(item))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (each for item in value for each in patterns_in(item))


def of_calls():
    """Looks with an expression that stands there; what reads a table of the package is left out."""
    for file, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in CALLS
                and isinstance(node.args[0], ast.Constant)
            ):
                yield (
                    f"{file}:{node.lineno}",
                    node.args[0].value,
                    0,
                    ast.unparse(node.func)[3:] not in AT_THE_START,
                )


def test_every_expression_takes_few_steps_for_each_character_of_any_text():
    every = {
        (source, flags, where): name
        for name, source, flags, where in (*of_table(), *of_modules(), *of_calls())
    }
    assert len(every) > 400
    slow = {name: steps(source, flags, searched=where) for (source, flags, where), name in every.items()}
    slow = {name: most for name, most in slow.items() if most > MOST and not name.startswith(OF_TABLES)}
    assert {name: most for name, most in slow.items() if name not in LINEAR} == {}
    assert LINEAR.keys() <= slow.keys(), "an exception that is none any more"


@pytest.mark.parametrize(
    "source",
    [
        r"\w+@", r"(a+)+b", r"a\s*,?\s*b", r"\s+b", r"(?:\w+ ?)+x", r"(?=\w*x)a", r"x[^\n]*y", r"(?:a?b?)*c",
        r"(?:a|a)*b", r"[-_]+\w+x", r"(?<![@+-])[\w.@+-]+/", r"(?:\w{1,60} ?){1,60}x",
    ],
)  # fmt: skip
def test_an_expression_whose_work_grows_faster_than_the_text_is_found(source):
    assert steps(source) == math.inf


@pytest.mark.parametrize(
    ("source", "most"),
    [
        (r"\b\w+@", 1), (r"(?<!\w)\w+@", 1), (r"\w+", 1), (r"(?:a+)+", 1), (r'"[^"]+"', 1), (r"a\s+b", 1), (r"^a*b", 1),
        (r"\w{1,60}-x", 60), (r"\w{1,60} ?\w{1,60}-x", 3600), (r"(?:(?<=\s)|^)\w+@", 1),
    ],
)  # fmt: skip
def test_the_steps_for_one_character_are_counted(source, most):
    assert steps(source) == most
