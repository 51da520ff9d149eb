# SPDX-License-Identifier: Apache-2.0
"""What differs from kind to kind, against what the real server was seen to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance import natives
from tests.conformance.natives import Native, merged
from tests.conformance.probes.update_kinds import _CHANGES
from tests.unit.embedded.natives.desk import PROBE, Desk, golden
from trellis.embedded.copying import copied
from trellis.embedded.natives import facts_of, selectable_fields, strategy_of
from trellis.embedded.patches import strategic
from trellis.embedded.schema.node import native_of

NATIVES = sorted(
    (value for value in vars(natives).values() if isinstance(value, Native)),
    key=lambda native: native.resource,
)
SEEN = golden("update_kinds")


def _noted(title: str) -> dict[str, Any]:
    return {each["note"]: each["value"] for each in SEEN[title]}


def _group(native: Native) -> str:
    return native.version.rpartition("/")[0]


@pytest.mark.parametrize("native", NATIVES, ids=lambda native: native.kind)
def test_which_kinds_are_created_by_put_and_updated_without_a_version(native: Native) -> None:
    made = _noted("an update of a missing object is 404 for most kinds and creates some")
    free = _noted("an update without a resourceVersion is fine for most kinds and 422 for some")
    facts = facts_of(_group(native), native.kind)
    assert facts.creates_on_update == (made[native.resource] == 201)
    assert facts.unconditional_update == (free[native.resource] == 200)
    assert facts.namespaced == native.namespaced


@pytest.mark.parametrize(
    "native", [each for each in NATIVES if each.resource in _CHANGES], ids=lambda each: each.kind
)
def test_which_changes_count_a_generation(native: Native) -> None:
    title = "generations are counted by some kinds, and with labels by endpoint slices only"
    expected = _noted(title)[f"{native.resource}: made, changed, labelled"]
    desk = Desk()
    start = {"involvedObject": {"namespace": PROBE.ns}} if native.kind == "Event" else {}
    held = desk.create(native, native.new(PROBE, start))
    held["metadata"]["resourceVersion"] = "1"
    version = native.version.rpartition("/")[2]
    node = native_of(_group(native), version, native.kind)
    counts = [held["metadata"].get("generation")]
    for patch in (_CHANGES[native.resource], {"metadata": {"labels": {"a": "b"}}}):
        held = desk.change(native, held, strategic(held, patch or {}, node))
        counts.append(held["metadata"].get("generation"))
    assert counts == expected


def test_kinds_that_are_not_listed_are_plain() -> None:
    assert facts_of("example.com", "Thing") == facts_of("", "ConfigMap")
    assert not facts_of("", "ConfigMap").counted
    assert type(strategy_of("storage.k8s.io", "CSINode")).__name__ == "Native"


@pytest.mark.parametrize(
    ("kind", "field", "held", "expected"),
    [
        pytest.param(("", "Pod"), "spec.nodeName", {"spec": {"nodeName": "n"}}, "n", id="node"),
        pytest.param(("", "Pod"), "spec.hostNetwork", {"spec": {}}, "false", id="absent bool"),
        pytest.param(
            ("", "Pod"), "status.podIP", {"status": {"podIPs": [{"ip": "1"}]}}, "1", id="address"
        ),
        pytest.param(
            ("", "Node"), "spec.unschedulable", {"spec": {"unschedulable": True}}, "true", id="bool"
        ),
        pytest.param(("batch", "Job"), "status.successful", {}, "0", id="absent number"),
        pytest.param(("", "Secret"), "metadata.name", {"metadata": {"name": "a"}}, "a", id="name"),
        pytest.param(
            ("", "Event"), "source", {"source": {}, "reportingComponent": "r"}, "r", id="reporter"
        ),
    ],
)
def test_fields_can_be_selected_by(
    kind: tuple[str, str], field: str, held: dict[str, Any], expected: str
) -> None:
    assert selectable_fields(*kind)[field](held) == expected


def test_what_a_kind_cannot_be_selected_by_is_not_there() -> None:
    assert set(selectable_fields("", "ConfigMap")) == {"metadata.name", "metadata.namespace"}
    assert set(selectable_fields("", "Namespace")) == {"metadata.name", "status.phase"}


def test_a_write_of_a_claims_status_keeps_its_labels() -> None:
    native = natives.RESOURCE_CLAIM
    held = Desk().create(native, native.new(PROBE, labels={"a": "b"}))
    held["metadata"]["resourceVersion"] = "1"
    new = merged(copied(held), {"metadata": {"labels": {"a": "c"}}})
    assert Desk().change(native, held, new, "status")["metadata"]["labels"] == {"a": "b"}
