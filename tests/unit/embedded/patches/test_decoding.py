# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.fields.desk import golden
from trellis.embedded.patches import decode_patch, refused_result
from trellis.embedded.refusals import Refusal

_SHAPES = golden("patch", "a patch of another JSON type than its own is 400")
_BROKEN = golden("patch", "a patch that is no JSON is 400")
MALFORMED: list[tuple[str, bytes, str]] = [
    ("merge", b'"text"', _SHAPES[0]["body"]["message"]),
    ("merge", b"[]", _SHAPES[1]["body"]["message"]),
    ("strategic", b'"text"', _SHAPES[2]["body"]["message"]),
    ("strategic", b"[]", _SHAPES[3]["body"]["message"]),
    ("json", b'"text"', _SHAPES[4]["body"]["message"]),
    ("json", b"{}", _SHAPES[5]["body"]["message"]),
    ("merge", b"{", _BROKEN[0]["body"]["message"]),
    ("strategic", b"{", _BROKEN[1]["body"]["message"]),
    ("json", b"{", _BROKEN[2]["body"]["message"]),
    ("merge", b"null", "Invalid JSON Patch"),
    (
        "json",
        b'["x"]',
        "error decoding patch: json: cannot unmarshal string into Go value of type "
        "handlers.jsonPatchOp",
    ),
    (
        "json",
        b'[{"op": 1}]',
        "error decoding patch: json: cannot unmarshal number into Go struct field "
        "jsonPatchOp.op of type string",
    ),
    (
        "apply",
        b"- a\n",
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
        "cannot unmarshal array into Go value of type map[string]interface {}",
    ),
]


@pytest.mark.parametrize(("form", "body", "said"), MALFORMED, ids=str)
def test_a_body_that_is_no_patch_of_its_kind_is_refused(form: str, body: bytes, said: str) -> None:
    with pytest.raises(Refusal) as raised:
        decode_patch(body, form, "Warn")
    assert (raised.value.code, raised.value.message) == (400, said)


@pytest.mark.parametrize(
    ("form", "body", "said"),
    [
        ("merge", b"{", "Invalid JSON Patch"),
        ("merge", b'"x"', "Invalid JSON Patch"),
        ("json", b"{", "unexpected end of JSON input"),
        ("json", b"{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
    ],
    ids=str,
)
def test_who_ignores_problems_is_refused_by_another_reader(
    form: str, body: bytes, said: str
) -> None:
    with pytest.raises(Refusal) as raised:
        decode_patch(body, form, "Ignore")
    assert raised.value.message == said


@pytest.mark.parametrize(
    ("form", "body", "value", "problems"),
    [
        ("merge", b'{"a": {"b": 1, "b": 2}}', {"a": {"b": 2}}, ['duplicate field "a.b"']),
        ("strategic", b"null", {}, []),
        (
            "strategic",
            b'{"a": [{"b": 1, "b": 2}]}',
            {"a": [{"b": 2}]},
            ['duplicate field "a[0].b"'],
        ),
        ("json", b"null", [], []),
        ("json", b"[null]", [None], []),
        (
            "json",
            b'[{"op": "add", "path": "/a", "path": "/b", "x": 1}]',
            [{"op": "add", "path": "/b", "x": 1}],
            ['json patch duplicate field "[0].path"', 'json patch unknown field "[0].x"'],
        ),
        ("apply", b"", {}, []),
        ("apply", b"a: 1\n---\nb: 2\n", {"a": 1}, []),
        ("apply", b"a: 1\na: 2\n", {"a": 2}, ['line 2: key "a" already set in map']),
    ],
    ids=str,
)
def test_what_is_odd_about_a_patch_is_told(
    form: str, body: bytes, value: Any, problems: list[str]
) -> None:
    decoded = decode_patch(body, form, "Warn")
    assert (decoded.value, decoded.problems) == (value, problems)
    assert type(decoded.value) in (dict, list)
    if form != "apply":
        assert decode_patch(body, form, "Ignore").problems == []


def test_a_strict_reader_refuses_a_key_given_twice_in_yaml() -> None:
    title = "an apply with a key twice takes the last and warns"
    seen = golden("apply_refusals", title)[1]["body"]
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n  a: '2'\n"
    problems = decode_patch(body, "apply", "Strict").problems
    assert refused_result("apply", None, problems).status == seen
