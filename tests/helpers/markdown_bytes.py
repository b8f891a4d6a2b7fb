"""Any Markdown file, drawn: lists, headings, fences, odd bytes and line ends."""

from __future__ import annotations

from hypothesis import strategies as st

MARKDOWN_LINES = st.sampled_from(
    [
        b"- entry one", b"- entry two", b"  more of it", b"  - nested", b"* star", b"+ plus", b"1. first", b"# Title",
        b"## Part", b"```", b"    code", b"> quoted", b"", b"   ", b"---", b"name: x", b"type: user", b"plain text",
        b"\xff\xfe odd", "- ümlaut \u2028 x".encode(), b"<!-- c -->", b"\tx", b"-", b"- ", b"-\tx", b"[PINNED] a",
    ]
)  # fmt: skip


MARKDOWN = st.builds(
    lambda bom, lines, last: (b"\xef\xbb\xbf" if bom else b"") + b"".join(a + b for a, b in lines) + last,
    st.booleans(),
    st.lists(st.tuples(MARKDOWN_LINES, st.sampled_from([b"\n", b"\r\n", b"\n", b"\r"])), max_size=14),
    st.one_of(st.just(b""), MARKDOWN_LINES),
)
