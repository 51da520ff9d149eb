# SPDX-License-Identifier: Apache-2.0
"""What holds for any objects and any order of managers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.schemas import TEXT, WHOLE, keyed_by, list_of, map_of, object_of
from tests.unit.embedded.fields.desk import Desk, Object, custom
from trellis.embedded.copying import copied
from trellis.embedded.fields import sets
from trellis.embedded.fields.differences import compared
from trellis.embedded.fields.merging import merged
from trellis.embedded.fields.owned import named, whole
from trellis.embedded.fields.shapes import shape_of
from trellis.embedded.refusals import Refusal

ITEM = object_of(k=TEXT, v=TEXT, n=WHOLE)
SPEC = object_of(
    a=TEXT,
    n=WHOLE,
    m=map_of(TEXT),
    s=list_of(TEXT, **{"x-kubernetes-list-type": "set"}),
    l=list_of(ITEM, **keyed_by("k")),
    w=list_of(TEXT),
    o={**object_of(a=TEXT), "x-kubernetes-map-type": "atomic"},
    f={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
)
THINGS = custom(SPEC)
SHAPE = shape_of(THINGS.schema)

_texts = st.sampled_from(["1", "2", "3"])
# Nothing is empty: an empty map that is applied where its owner's last field goes becomes null, on
# the real server too, and then the same is not the same again.
_any = st.recursive(
    _texts | st.integers(0, 2) | st.booleans(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(st.sampled_from("xy"), inner, min_size=1, max_size=2)
    ),
    max_leaves=4,
)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Object]:
    return st.fixed_dictionaries({}, optional=fields)


_items = st.lists(
    st.fixed_dictionaries(
        {"k": st.sampled_from("abcd")}, optional={"v": _texts, "n": st.integers(0, 2)}
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda item: item["k"],
)
SPECS = _some(
    a=_texts,
    n=st.integers(0, 2),
    m=st.dictionaries(st.sampled_from("xyz"), _texts, min_size=1, max_size=3),
    s=st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True),
    l=_items,
    w=st.lists(_texts, min_size=1, max_size=2),
    o=st.fixed_dictionaries({"a": _texts}),
    f=st.dictionaries(st.sampled_from("xy"), _any, min_size=1, max_size=2),
)
WRITES = st.lists(
    st.tuples(st.sampled_from(["m1", "m2"]), st.sampled_from(["apply", "force", "update"]), SPECS),
    min_size=1,
    max_size=5,
)


def _thing(spec: Object) -> Object:
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    return {**body, "spec": copied(spec)} if spec else body


def _written(writes: list[tuple[str, str, Object]]) -> Desk:
    desk = Desk(THINGS)
    for who, how, spec in writes:
        if how == "update":
            desk.write(_thing(spec), who)
        else:
            with suppress(Refusal):
                desk.apply(_thing(spec), who, force=how == "force")
    return desk


@settings(deadline=None)
@given(WRITES, SPECS)
def test_what_is_applied_twice_is_applied_once(
    writes: list[tuple[str, str, Object]], spec: Object
) -> None:
    desk = _written(writes)
    first = desk.apply(_thing(spec), "m1", force=True)
    assert desk.apply(_thing(spec), "m1") == first


@settings(deadline=None)
@given(WRITES)
def test_applying_what_is_there_is_in_conflict_with_nobody(
    writes: list[tuple[str, str, Object]],
) -> None:
    desk = _written(writes)
    if desk.live is not None:
        spec = copied(desk.live.get("spec", {}))
        live = desk.apply(_thing(spec), "m3")
        assert live.get("spec", {}) == spec


@settings(deadline=None)
@given(WRITES, SPECS)
def test_what_is_applied_with_force_is_there_and_owned(
    writes: list[tuple[str, str, Object]], spec: Object
) -> None:
    desk = _written(writes)
    live = desk.apply(_thing(spec), "m1", force=True)
    assert live.get("spec", {}) == merged(SHAPE, live, _thing(spec)).get("spec", {})
    wanted = named(SHAPE, {"spec": spec} if spec else {})
    assert desk.owners.get("m1!", {}) == wanted


@settings(deadline=None)
@given(WRITES)
def test_entries_are_in_order_and_canonical_and_none_is_empty(
    writes: list[tuple[str, str, Object]],
) -> None:
    desk = _written(writes)
    entries = desk.entries if desk.live is not None else []
    for entry in entries:
        assert entry["fieldsV1"] == sets.parsed(entry["fieldsV1"])
        assert str(entry["fieldsV1"]) == str(sets.ordered(entry["fieldsV1"]))
        assert entry["fieldsV1"]
    places = [(entry["operation"], entry.get("time", "")) for entry in entries]
    assert places == sorted(places)


@settings(deadline=None)
@given(SPECS, SPECS)
def test_a_difference_and_its_opposite_name_the_same_fields(old: Object, new: Object) -> None:
    there = compared(SHAPE, _thing(old), _thing(new))
    back = compared(SHAPE, _thing(new), _thing(old))
    assert (there.added, there.modified, there.removed) == (
        back.removed,
        back.modified,
        back.added,
    )
    # Python takes 0 for False, and no server does.
    if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True):
        assert not there.changed


@settings(deadline=None)
@given(SPECS)
def test_what_is_new_as_a_whole_has_at_least_the_fields_that_an_apply_of_it_names(
    spec: Object,
) -> None:
    named_fields, all_fields = named(SHAPE, {"spec": spec}), whole(SHAPE, {"spec": spec})
    assert sets.difference(named_fields, all_fields) == {}


@settings(deadline=None)
@given(SPECS, SPECS)
def test_merging_keeps_all_that_was_applied_and_loses_nothing(old: Object, new: Object) -> None:
    both = merged(SHAPE, _thing(old), _thing(new))
    assert compared(SHAPE, both, merged(SHAPE, both, _thing(new))).changed == {}
    have = whole(SHAPE, both)
    for spec in (old, new):
        keyed: Object = {name: spec[name] for name in ("a", "n", "m", "s", "l") if name in spec}
        assert sets.difference(named(SHAPE, _thing(keyed)), have) == {}
