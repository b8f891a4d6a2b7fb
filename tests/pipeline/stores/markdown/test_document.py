"""Parsing and editing Markdown: spans are found, bytes that are not meant stay."""

import itertools
from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import example, given, settings, strategies as st
from markdown_trees import MARKDOWN
from mem0_dream.pipeline.stores.markdown.document import decode, edit_lines, encode, lines_of, parse, plain

TABLE = Path(__file__).with_name("entries.tsv")


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=60), MARKDOWN))
@example("a private sign \uf7a0".encode())
def test_the_text_of_any_bytes_leads_back_to_them(data: bytes) -> None:
    back = encode(decode(data), bom=data.startswith(b"\xef\xbb\xbf"))
    private = any("\uf780" <= sign <= "\uf7ff" for sign in data.decode("utf-8", "surrogateescape"))
    assert parse(data).faithful is (back == data) is not private


@settings(deadline=None)
@given(MARKDOWN)
def test_an_edit_that_changes_nothing_changes_no_byte(data: bytes) -> None:
    document = parse(data)
    if document.faithful:
        assert document.with_whole(plain(document.source)) == document.with_body(document.body) == data
        assert all(document.with_entry(entry, entry.text) == data for entry in document.entries)


@settings(deadline=None)
@given(MARKDOWN)
def test_entries_are_disjoint_and_have_names_of_their_own(data: bytes) -> None:
    entries = parse(data).entries
    assert all(a.end <= b.start for a, b in itertools.pairwise(entries))
    assert len({entry.id for entry in entries}) == len(entries)


def test_an_edit_keeps_the_line_endings_of_its_neighbours() -> None:
    old = lines_of("one\r\ntwo\nthree\r\n")
    assert edit_lines(old, "one\n2\nthree\n", newline="\r\n") == "one\r\n2\r\nthree\r\n"


def test_a_frontmatter_is_read_with_a_bare_colon_and_with_what_stands_under_metadata() -> None:
    document = parse(b"---\nname: a\ndescription: use: colons\ntype: user\n---\nbody\n")
    read = (document.value("description"), document.value("type"), document.body)
    assert read == ("use: colons", "user", "body")
    assert parse(b"---\nmetadata:\n  type: feedback\n---\nx\n").value("type") == "feedback"


@pytest.mark.parametrize(("count", "text"), rows_of(TABLE, "0", "2", "3", "4"))
def test_only_a_file_of_nothing_but_bullets_has_entries(count: str, text: str) -> None:
    assert len(parse(text.encode()).entries) == int(count)


def test_an_entry_has_its_text_without_bullet_its_heading_and_a_name_of_its_own() -> None:
    entry, second, third = parse(b"# T\n\n## Data Base\n\n- one\n  two\n\n    code\n- x\n- x\n").entries
    assert (entry.text, entry.heading) == ("one\ntwo\n\n  code", "data base")
    assert third.id == f"{second.id}.2"
