# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.kube.builders import ConfigMap, Meta
from trellis.kube.codec import decode, encode
from trellis.kube.errors import Unreadable


@pytest.mark.parametrize(
    ("body", "want"),
    [
        pytest.param(b'{"a": 1,  "a": 2}', b'{"a": 1,  "a": 2}', id="bytes go as they are"),
        pytest.param({"a": [1, None]}, b'{"a":[1,null]}', id="a dict"),
        pytest.param([{"op": "remove"}], b'[{"op":"remove"}]', id="a list"),
        pytest.param(
            Meta(name="x", resource_version="1"),
            b'{"name":"x","namespace":"","resourceVersion":"1"}',
            id="a struct under its names on the wire",
        ),
        pytest.param({"spec": msgspec.Raw(b'{"b":1}')}, b'{"spec":{"b":1}}', id="raw parts"),
    ],
)
def test_bodies(body: Any, want: bytes) -> None:
    assert encode(body) == want


@pytest.mark.parametrize(
    ("into", "want"),
    [
        pytest.param(ConfigMap, ConfigMap(metadata=Meta(name="a")), id="a struct"),
        pytest.param(dict, {"metadata": {"name": "a"}, "more": 1}, id="a dict"),
        pytest.param(bytes, b'{"metadata":{"name":"a"},"more":1}', id="bytes as they came"),
    ],
)
def test_answers(into: Any, want: Any) -> None:
    assert decode(b'{"metadata":{"name":"a"},"more":1}', into, "GET /x") == want


@pytest.mark.parametrize("into", [ConfigMap, dict])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"<html>secret</html>", id="a page"),
        pytest.param(b'{"metadata":{"name":"secret', id="cut off"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'"secret"', id="of another kind"),
        pytest.param(b'{"metadata":{"name":"\xff"}}', id="no UTF-8"),
        pytest.param(b'{"metadata":{"name":"\\ud800"}}', id="half a character"),
        pytest.param(b'{"x":' * 100_000 + b"1" + b"}" * 100_000, id="a hundred thousand deep"),
        pytest.param(b'{"x":' + b"[" * 100_000, id="deep and cut off"),
    ],
)
def test_what_cannot_be_read_is_one_error_that_shows_nothing_of_it(
    content: bytes, into: Any
) -> None:
    with pytest.raises(Unreadable) as raised:
        decode(content, into, "GET /x")
    assert str(raised.value).startswith(f"GET /x: an answer of {len(content)} bytes ")
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_wrong_shape_is_told_by_its_field() -> None:
    with pytest.raises(Unreadable, match=r"Expected `str`, got `int` - at `\$.metadata.name`"):
        decode(b'{"metadata":{"name":5}}', ConfigMap, "GET /x")
