# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import field, structs

from trellis.api.meta import Metadata, Value
from trellis.runtime.sharing import sharing


class Part(Value, frozen=True, kw_only=True):
    kind: str = ""
    size: int = 0
    big: bool = False


class Section(Value, frozen=True, kw_only=True):
    node: str = ""
    parts: tuple[Part, ...] = ()
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    flags: tuple[bool, ...] = ()
    amounts: dict[str, str | int] = field(default_factory=dict)
    maybe: Part | None = None
    usual: Part = Part()
    raw: msgspec.Raw = msgspec.Raw(b"{}")


class Thing(Value, frozen=True, kw_only=True):
    metadata: Metadata
    spec: Section = Section()


class Watched(Thing, frozen=True, kw_only=True, gc=True, weakref=True):
    def __post_init__(self) -> None:
        structs.force_setattr(self, "spec", structs.replace(self.spec, node="set"))


def two_alike(**spec: Any) -> tuple[Thing, Thing]:
    decoder = msgspec.json.Decoder(sharing(Thing))
    metadata = {
        "labels": {"app": "train"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Box", "name": "box", "uid": "u"}],
    }
    first, second = (
        json.dumps({"metadata": {"name": name, **metadata}, "spec": spec}) for name in "ab"
    )
    return decoder.decode(first), decoder.decode(second)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({}, "metadata.labels", id="labels"),
        pytest.param({}, "metadata.owner_references", id="owners"),
        pytest.param({"node": "node-17"}, "spec.node", id="a string"),
        pytest.param({"parts": [{"kind": "x"}]}, "spec.parts", id="a tuple of structs"),
        pytest.param({"words": ["some", "words"]}, "spec.words", id="a tuple of strings"),
        pytest.param({"amounts": {"cpu": "8", "pods": 3}}, "spec.amounts", id="amounts"),
        pytest.param({"maybe": {"kind": "x"}}, "spec.maybe", id="an optional struct"),
        pytest.param({"raw": {"any": ["thing"]}}, "spec.raw", id="a raw part"),
    ],
)
def test_equal_parts_are_one(spec: dict[str, Any], path: str) -> None:
    first, second = two_alike(**spec)
    for name in path.split("."):
        first, second = getattr(first, name), getattr(second, name)
    assert first == second
    assert first is second


def test_one_that_was_read_equals_one_that_was_built() -> None:
    read = msgspec.json.decode(b'{"metadata":{"name":"a"}}', type=sharing(Thing))
    built = Thing(metadata=Metadata(name="a"))
    assert read == built
    assert built == read
    assert read != Thing(metadata=Metadata(name="b"))
    assert isinstance(read, Thing)
    assert structs.replace(read, spec=Section(node="x")).spec.node == "x"
    assert msgspec.json.encode(read) == msgspec.json.encode(built)


def test_a_raw_part_does_not_keep_the_message_it_came_in() -> None:
    decoder = msgspec.json.Decoder(sharing(Thing))
    message = b'{"metadata":{"name":"a"},"spec":{"raw":{"x":1},"node":"%s"}}' % (b"n" * 100_000)
    thing = decoder.decode(message)
    assert not [each for each in gc.get_referents(thing.spec.raw) if each is message]
    assert bytes(thing.spec.raw) == b'{"x":1}'


def test_what_a_type_does_to_itself_is_still_done() -> None:
    thing = msgspec.json.decode(b'{"metadata":{"name":"a"}}', type=sharing(Watched))
    assert thing.spec.node == "set"


def test_parts_are_forgotten_and_nothing_else_is_kept() -> None:
    decoder = msgspec.json.Decoder(sharing(Watched, most=10))
    things = [
        decoder.decode(json.dumps({"metadata": {"name": "a", "labels": {"n": str(number)}}}))
        for number in range(100)
    ]
    seen = [weakref.ref(thing) for thing in things]
    del things
    assert not any(ref() for ref in seen)


PARTS = st.fixed_dictionaries(
    {}, optional={"kind": st.text(max_size=3), "size": st.integers(0, 2), "big": st.booleans()}
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "node": st.text(max_size=3),
        "parts": st.lists(PARTS, max_size=2),
        "words": st.lists(st.text(max_size=2), max_size=2),
        "numbers": st.lists(st.integers(0, 1), max_size=2),
        "flags": st.lists(st.booleans(), max_size=2),
        "amounts": st.dictionaries(st.text(max_size=2), st.text(max_size=2) | st.integers(0, 1)),
        "maybe": PARTS,
        "usual": PARTS,
        "raw": PARTS,
    },
)


@given(st.lists(SPECS, min_size=1, max_size=6))
def test_sharing_changes_no_value(specs: list[dict[str, Any]]) -> None:
    shared = msgspec.json.Decoder(sharing(Thing, most=8))
    for spec in specs:
        text = json.dumps({"metadata": {"name": "a"}, "spec": spec})
        plain = msgspec.json.decode(text, type=Thing)
        assert msgspec.json.encode(shared.decode(text)) == msgspec.json.encode(plain)
