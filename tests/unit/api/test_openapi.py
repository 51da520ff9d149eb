# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from trellis.api.schema.openapi import KINDS, Disagreement, definitions, dump


def document(**schemas: Any) -> dict[str, Any]:
    return {"components": {"schemas": schemas}}


def test_descriptions_go_but_fields_of_that_name_stay() -> None:
    schema = {
        "description": "gone",
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "gone"},
            "type": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string", "description": "gone"}},
        },
        "additionalProperties": {"type": "string", "description": "gone"},
    }
    assert definitions([document(A=schema)])["A"] == {
        "type": "object",
        "properties": {
            "description": {"type": "string"},
            "type": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
        },
        "additionalProperties": {"type": "string"},
    }


def test_what_documents_share_is_kept_once_with_the_kinds_of_all() -> None:
    one = document(Options={"type": "object", KINDS: [{"kind": "B"}]})
    other = document(Options={"type": "object", KINDS: [{"kind": "A"}, {"kind": "B"}]})
    assert definitions([one, other]) == {
        "Options": {"type": "object", KINDS: [{"kind": "A"}, {"kind": "B"}]}
    }


def test_two_meanings_of_one_name_are_refused() -> None:
    with pytest.raises(Disagreement, match="two definitions of A"):
        definitions([document(A={"type": "object"}), document(A={"type": "string"})])


def test_documents_without_schemas_are_skipped() -> None:
    assert definitions([{"paths": {}}, {"components": {}}]) == {}


def test_the_dump_is_json_with_a_line_for_each_definition() -> None:
    text = dump("1.36.3", {"A": {"type": "object"}, "B": {"type": "string"}})
    assert json.loads(text)["definitions"]["B"] == {"type": "string"}
    assert text.count("\n") == 4
