# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.kube.errors import Unreadable
from trellis.kube.lines import LONGEST_LINE, Lines


def fed(chunks: list[bytes]) -> list[bytes]:
    lines = Lines("watch")
    return [line for chunk in chunks for line in lines.feed(chunk)]


@given(
    st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=20),
    st.lists(st.integers(0, 400), max_size=20),
)
def test_however_it_is_cut_the_lines_are_the_same(lines: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    chunks = [whole[start:end] for start, end in pairwise(places)]
    assert fed(chunks) == lines


def test_a_line_that_is_not_complete_is_kept_back() -> None:
    lines = Lines("watch")
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o") == []
    assert lines.feed(b"\n\nthree\n") == [b"two", b"", b"three"]


def test_a_line_may_be_longer_than_any_buffer() -> None:
    long = b"x" * (3 << 20)
    pieces = [long[start : start + 60_000] for start in range(0, len(long), 60_000)]
    assert fed([*pieces, b"\n"]) == [long]


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    lines = Lines("watch of /x")
    piece = b"x" * (1 << 20)
    for _ in range(LONGEST_LINE >> 20):
        lines.feed(piece)
    with pytest.raises(Unreadable, match="watch of /x: a line of more than 32 MiB"):
        lines.feed(piece)
