# SPDX-License-Identifier: Apache-2.0
"""Answers as bytes."""

from __future__ import annotations

import pytest

from trellis.embedded.front import writing

JSON = (("Content-Type", "application/json"), ("Warning", "one"), ("Warning", "two"))


def test_a_whole_answer() -> None:
    assert writing.whole("GET", 201, JSON, b"{}", last=False) == (
        b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nWarning: one\r\n"
        b"Warning: two\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_head_has_the_length_alone() -> None:
    found = writing.whole("HEAD", 200, (), b"{}", last=False)
    assert found == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_never_have_a_body(status: int) -> None:
    found = writing.whole("GET", status, (), b"x", last=True)
    assert found.endswith(b"Connection: close\r\n\r\n")
    assert b"Content-Length" not in found


def test_a_stream_is_chunked_for_those_who_read_chunks() -> None:
    assert b"Transfer-Encoding: chunked" in writing.stream(200, (), chunked=True, last=False)
    plain = writing.stream(200, (), chunked=False, last=False)
    assert b"Transfer-Encoding" not in plain
    assert b"Connection: close" in plain


def test_a_chunk_says_its_size() -> None:
    assert writing.chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"


def test_a_status_without_a_name_is_written_too() -> None:
    assert writing.whole("GET", 299, (), b"", last=False).startswith(b"HTTP/1.1 299 ")
