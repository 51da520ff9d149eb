# SPDX-License-Identifier: Apache-2.0
"""Refusals as the real server words them, from the goldens."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.schema.builders import (
    TEXT,
    WHOLE,
    Kind,
    fields,
    native_kind,
    thing,
    things,
)
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema.decode import decode, settled

CONFIG_MAP = native_kind("", "v1", "ConfigMap")
HEAD = (
    'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
FIELD_NAMES = ["kind", "metadata", "labels", "spec", "containers", "name", "data", "a", "items"]
THING = things(fields(a=TEXT, n=WHOLE, items={"type": "array", "items": fields(k=TEXT)}))


def refusal(body: Any, kind: Kind = CONFIG_MAP, mode: str = "Warn") -> str:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(Refusal) as refused:
        decode(text, kind, mode)
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")
    return refused.value.message


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "json parse error: unexpected end of JSON input ({)"),
        (b"", "json parse error: unexpected end of JSON input (<empty>)"),
        (b"[]", f"json parse error: json: cannot unmarshal array into {HEAD} (5b5d)"),
        (
            b'{"apiVersion": "v1", "kind": 1, "metadata": {}}',
            "json parse error: json: cannot unmarshal number into Go struct field .kind of type "
            'string ({"apiVersion": "v1", "kind": 1 ...)',
        ),
    ],
)
def test_what_is_no_object_is_unrecognized(body: bytes, why: str) -> None:
    said = "the object provided is unrecognized (must be of type ConfigMap)"
    assert refusal(body) == f"{said}: couldn't get version/kind; {why}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            {"kind": "Secret", "data": {"a": "1"}},
            'Secret in version "v1" cannot be handled as a ConfigMap: illegal base64 data at '
            "input byte 0",
        ),
        (
            {"kind": "ServiceAccount"},
            'ServiceAccount in version "v1" cannot be handled as a ConfigMap: converting '
            "(v1.ServiceAccount) to (core.ConfigMap): unknown conversion",
        ),
        (
            {"kind": "Nonsense"},
            'Nonsense in version "v1" cannot be handled as a ConfigMap: no kind "Nonsense" is '
            'registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            {"apiVersion": "apps/v1", "kind": "ConfigMap"},
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is '
            'registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            {"data": []},
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
            "array into Go struct field ConfigMap.data of type map[string]string",
        ),
    ],
)
def test_a_body_of_another_kind_or_type_is_refused(body: Any, why: str) -> None:
    assert refusal(body) == why


@pytest.mark.parametrize("body", [b"null", b"{}", b'{"kind": "ConfigMap"}'])
def test_a_built_in_kind_may_leave_out_what_it_is(body: bytes) -> None:
    found = decode(body, CONFIG_MAP)
    assert found.object == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}


@pytest.mark.parametrize(
    ("mode", "problems"),
    [("Ignore", []), ("Warn", ['duplicate field "data.a"', 'unknown field "zap"'])],
)
def test_problems_are_told_as_was_asked_for(mode: str, problems: list[str]) -> None:
    found = decode(b'{"data": {"a": "1", "a": "2"}, "zap": {"x": 1}}', CONFIG_MAP, mode)
    assert (found.object["data"], found.problems) == ({"a": "2"}, problems)


def test_problems_refuse_a_strict_request() -> None:
    assert refusal(b'{"data": {"a": "1", "a": "2"}, "zap": 1}', mode="Strict") == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'duplicate field "data.a", unknown field "zap"'
    )


def test_yaml_is_read_and_refused_strictly_with_its_lines() -> None:
    text = b"kind: ConfigMap\ndata: {a: b}\nkind: ConfigMap"
    assert decode(text, CONFIG_MAP, media_type="application/yaml").problems == [
        'line 3: key "kind" already set in map'
    ]
    with pytest.raises(Refusal, match="strict decoding error: yaml: unmarshal errors:\n  line 3"):
        decode(text, CONFIG_MAP, "Strict", "application/yaml")


def test_a_custom_object_is_pruned_and_what_went_is_named_duplicates_first() -> None:
    body = thing({"a": "1", "x": 1, "items": [{"k": "a", "zap": 2}]}, zap=3)
    body["metadata"]["nonsense"] = 2
    text = json.dumps(body).replace('"k": "a"', '"k": "b", "k": "a"').encode()
    found = decode(text, THING)
    assert found.problems == [
        'duplicate field "spec.items[0].k"',
        'unknown field "metadata.nonsense"',
        'unknown field "spec.items[0].zap"',
        'unknown field "spec.x"',
        'unknown field "zap"',
    ]
    assert found.object == thing({"a": "1", "items": [{"k": "a"}]})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"metadata": []}, "json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
        (
            {"metadata": {"name": 1}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
    ],
)
def test_metadata_of_a_custom_object_is_typed(change: Any, why: str) -> None:
    said = f'Thing in version "v1" cannot be handled as a Thing: {why}'
    assert refusal(thing({}) | change, THING) == said


def test_a_custom_object_must_say_its_kind() -> None:
    assert refusal(b"{}", THING) == (
        "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing in "
        "'{}' ({})"
    )


def test_a_custom_object_of_another_version_is_refused_after_its_problems_are_told() -> None:
    found = decode(json.dumps(thing({}, apiVersion="example.com/v9")).encode(), THING)
    assert found.problems == ['unknown field "spec"']
    assert found.refusal is not None
    assert found.refusal.message == (
        "the API version in the data (example.com/v9) does not match the expected API version "
        "(example.com/v1)"
    )


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELD_NAMES) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(ANYTHING, st.sampled_from([native_kind("", "v1", "Pod"), CONFIG_MAP, THING]))
def test_whatever_is_sent_is_read_or_refused_with_400(value: Any, kind: Kind) -> None:
    head = {"apiVersion": f"{kind.group}/v1".lstrip("/"), "kind": kind.kind}
    body = value | head if isinstance(value, dict) else value
    code = 0
    try:
        msgspec.json.encode(decode(json.dumps(body).encode(), kind).object)
    except Refusal as refused:
        code = refused.code
    assert code in {0, 400}


def test_a_value_that_is_no_text_is_settled_the_same_way() -> None:
    assert settled({"data": {}, "zap": 1}, CONFIG_MAP) == (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}},
        ['unknown field "zap"'],
    )
    given = thing({"x": 1})
    assert settled(given, THING) == (thing({}), ['unknown field "spec.x"'])
    assert given == thing({"x": 1})
