# SPDX-License-Identifier: Apache-2.0
"""Protobuf that real clients sent, and bytes that nobody should send."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.wire.protobuf import MAGIC, Malformed, decode

# Recorded on their way to the lab; `object` is what a JSON client would have sent.
# The number of `not` in a schema.
NOT = 28
REQUESTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "requests.json").read_text())


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    kinds = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, kinds) + field(2, raw)


@pytest.mark.parametrize(
    "request_", REQUESTS, ids=[f"{each['client']} {each['request']}" for each in REQUESTS]
)
def test_a_recorded_request_is_read(request_: dict[str, Any]) -> None:
    api_version, kind, found = decode(base64.b64decode(request_["body"]))
    assert found == request_["object"]
    assert (api_version, kind) == (found["apiVersion"], found["kind"])


def test_options_may_come_under_any_group() -> None:
    _, kind, found = decode(envelope("apps/v1", "DeleteOptions", field(1, 30)))
    assert (kind, found["gracePeriodSeconds"]) == ("DeleteOptions", 30)


def test_a_zero_behind_a_pointer_is_kept_and_any_other_dropped() -> None:
    spec = field(1, 0) + field(4, b"")
    _, _, found = decode(envelope("apps/v1", "Deployment", field(2, spec)))
    assert found["spec"] == {"replicas": 0}
    meta = field(1, b"a") + field(7, 0)
    _, _, found = decode(envelope("v1", "ConfigMap", field(1, meta)))
    assert found["metadata"] == {"name": "a"}


def test_a_negative_number_is_read() -> None:
    _, _, found = decode(envelope("v1", "DeleteOptions", field(1, (1 << 64) - 5)))
    assert found["gracePeriodSeconds"] == -5


BAD = {
    "no magic": (b'{"kind": "Pod"}', "does not appear to be a protobuf message"),
    "nothing": (b"", "expected prefix [107 56 115 0]"),
    "an unknown kind": (envelope("v1", "Nonsense", b""), 'no kind "Nonsense" is registered'),
    "a length beyond the end": (envelope("v1", "Pod", b"\x0a\x7f"), "unexpected EOF"),
    "an endless number": (envelope("v1", "Pod", b"\xff" * 12), "integer overflow"),
    "a group": (envelope("v1", "Pod", b"\x0b"), "illegal wireType 3"),
    "text for a struct": (envelope("v1", "Pod", field(1, 5)), "wrong wireType"),
    "bytes that are no text": (
        envelope("v1", "Pod", field(1, field(1, b"\xff"))),
        "invalid UTF-8",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_malformed(case: str) -> None:
    body, why = BAD[case]
    with pytest.raises(Malformed) as problem:
        decode(body)
    assert why in str(problem.value)


def test_nesting_is_bounded() -> None:
    """A schema holds schemas, so its protobuf can nest for ever."""
    inner = b""
    for _ in range(200):
        inner = field(NOT, inner)
    version = field(1, b"v1") + field(4, field(1, inner))
    body = envelope(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", field(2, field(7, version))
    )
    with pytest.raises(Malformed, match="nested deeper"):
        decode(body)


@given(st.sampled_from(REQUESTS), st.integers(min_value=0), st.binary(max_size=4))
def test_broken_bytes_are_read_or_malformed_and_nothing_else(
    request_: dict[str, Any], place: int, change: bytes
) -> None:
    body = base64.b64decode(request_["body"])
    place %= len(body)
    with contextlib.suppress(Malformed):
        decode(body[:place] + change + body[place + len(change) :])


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_malformed_and_nothing_else(raw: bytes) -> None:
    for kind in ("Pod", "DeleteOptions", "Node"):
        with contextlib.suppress(Malformed):
            decode(envelope("v1", kind, raw))
