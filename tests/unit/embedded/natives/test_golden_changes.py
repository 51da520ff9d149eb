# SPDX-License-Identifier: Apache-2.0
"""Changes that the real server refused or took are refused or taken by us, in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD, Native
from tests.conformance.probes import native_immutable, scheduling_gates
from tests.unit.embedded.natives.desk import PROBE, Desk, golden, normalised
from trellis.embedded.patches import merge_patch, strategic
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema.node import native_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

# The server compares the bytes that the client sent, spaces included; we keep values.
_BYTES = "a controller revision keeps its data"


def _natives() -> Iterator[Any]:
    seen = golden("native_immutable")
    for title, native, start, patches in native_immutable._CASES:
        if title != _BYTES:
            yield pytest.param(native, start, patches, seen[title], id=title)


@pytest.mark.parametrize(("native", "start", "patches", "seen"), list(_natives()))
def test_what_may_change_is_as_on_the_real_server(
    native: Native, start: Any, patches: tuple[Any, ...], seen: list[dict[str, Any]]
) -> None:
    desk = Desk()
    held = _stored(desk.create(native, native.new(PROBE, start)))
    group, _, version = native.version.rpartition("/")
    node = native_of(group, version, native.kind)
    for patch, said in zip(patches, seen, strict=True):
        held = _check(desk, native, held, strategic(held, patch, node), said)


def _stored(held: Object) -> Object:
    held["metadata"].setdefault("resourceVersion", "1")
    return held


def _check(desk: Desk, native: Native, held: Object, new: Object, said: dict[str, Any]) -> Object:
    if said["status"] == 200:
        return desk.change(native, held, new)
    with pytest.raises(Refusal) as refused:
        desk.change(native, held, new)
    assert normalised(refused.value.status) == said["body"]
    return held


def _gated() -> Iterator[Any]:
    seen = golden("scheduling_gates")
    for title, before, after in scheduling_gates._WHILE_GATED:
        yield pytest.param(before, after, seen[title], id=title)


@pytest.mark.parametrize(("before", "after", "seen"), list(_gated()))
def test_a_gate_keeps_open_what_it_does_on_the_real_server(
    before: dict[str, Any], after: dict[str, Any], seen: list[dict[str, Any]]
) -> None:
    desk = Desk()
    gate = {"schedulingGates": [scheduling_gates.GATE]}
    for name, spec, said in zip(("gated", "free"), (gate, {}), seen, strict=True):
        held = _stored(desk.create(POD, pod(name, {**spec, **before})))
        _check(desk, POD, held, merge_patch(held, {"spec": after}), said)


def test_lifting_a_gate_and_pinning_the_pod_is_one_generation() -> None:
    desk = Desk()
    held = _stored(desk.create(POD, pod("a", {"schedulingGates": [{"name": "a.b/wait"}]})))
    lifted = {"schedulingGates": None, "nodeSelector": {"kubernetes.io/hostname": "n1"}}
    new = desk.change(POD, held, merge_patch(held, {"spec": lifted}))
    assert new["metadata"]["generation"] == 2
    assert "schedulingGates" not in new["spec"]
    assert new["status"] == held["status"]
