# SPDX-License-Identifier: Apache-2.0
"""What the real server was seen to do, done again here without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.builders import config_map
from tests.conformance.kinds import widget
from tests.conformance.probes.apply_structures import STEPS
from tests.conformance.probes.managed_fields import ENTRIES, PATCHES
from tests.unit.embedded.fields.desk import (
    CONFIG_MAPS,
    PODS,
    Desk,
    Object,
    golden,
    native,
    widgets,
)
from trellis.embedded.copying import copied
from trellis.embedded.patches import json_patch, merge_patch, strategic
from trellis.embedded.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable


def _timeless(entries: list[Object]) -> list[Object]:
    """As goldens have them: their times masked, but for those a probe gave itself."""
    ours = "2026-"
    return [
        {**entry, "time": "<time>"} if entry.get("time", "").startswith(ours) else entry
        for entry in entries
    ]


def _shown(live: Object) -> Object:
    entries = _timeless(live["metadata"]["managedFields"])
    return {"spec": live["spec"], "metadata": {"managedFields": entries}}


@pytest.mark.parametrize("title", STEPS)
def test_lists_and_maps_of_a_widget_are_applied_as_the_server_did(title: str) -> None:
    desk = Desk(widgets(), tick=False)
    for (who, spec), seen in zip(STEPS[title], golden("apply_structures", title), strict=True):
        try:
            configuration = widget("w", copied(spec))
            got = _shown(desk.apply(configuration, who.rstrip("!"), who.endswith("!")))
        except Refusal as refusal:
            got = refusal.status
        assert got == seen["body"]


def _owned(seen: Object) -> list[Object]:
    found: list[Object] = seen["body"]["metadata"].get("managedFields", [])
    return found


@pytest.mark.parametrize("kind", PATCHES)
def test_a_patch_owns_what_it_changed_as_on_the_server(kind: str) -> None:
    desk = Desk(CONFIG_MAPS, tick=False)
    old = desk.write(config_map("a"), "m0")
    edits: dict[str, Callable[[Object, Any], Object]] = {
        "merge": merge_patch,
        "json": json_patch,
        "strategic": lambda old, patch: strategic(old, patch, CONFIG_MAPS.schema),
    }
    desk.write(edits[kind](old, PATCHES[kind]), "m1")
    (seen,) = golden(
        "managed_fields", f"a {kind} patch owns what it changed by the operation Update"
    )
    assert _timeless(desk.entries) == _owned(seen)


@pytest.mark.parametrize("title", [title for title in ENTRIES if "too long" not in title])
def test_entries_that_a_client_sets_are_taken_as_the_server_took_them(title: str) -> None:
    desk = Desk(CONFIG_MAPS, tick=False)
    old = desk.write(config_map("a"), "m0")
    desk.write(merge_patch(old, {"metadata": {"managedFields": [ENTRIES[title]]}}), "m1")
    (seen,) = golden("managed_fields", title)
    assert _timeless(desk.entries) == _owned(seen)


def test_the_thirteenth_manager_makes_the_oldest_four_one() -> None:
    desk = Desk(CONFIG_MAPS)
    live = desk.write(config_map("a", {"k00": "1"}), "m00")
    for number in range(1, 13):
        live = desk.write(merge_patch(live, {"data": {f"k{number:02}": "1"}}), f"m{number:02}")
    title = "after ten managers the oldest updates are gathered under ancient-changes"
    (seen,) = golden("managed_fields", title)
    assert _timeless(desk.entries) == _owned(seen)


def test_a_created_widget_owns_its_lists_and_maps_by_their_kind() -> None:
    title = "a custom resource's lists and maps are owned by their kind, defaults too"
    (seen,) = golden("managed_fields", title)
    desk = Desk(widgets(), tick=False)
    body = {name: copied(seen["body"][name]) for name in ("apiVersion", "kind", "spec")}
    desk.write({**body, "metadata": {"name": "w"}}, "m1")
    assert _timeless(desk.entries) == _owned(seen)


def _of_users(pod: Object) -> Object:
    """Without what admission adds, which is nobody's."""
    spec = copied(pod["spec"])
    for name in ("serviceAccount", "serviceAccountName", "tolerations", "priority"):
        spec.pop(name, None)
    spec.pop("preemptionPolicy", None)
    for holder, name in ((spec, "volumes"), (spec["containers"][0], "volumeMounts")):
        own = [each for each in holder.get(name, ()) if not each["name"].startswith("kube-api")]
        holder.pop(name, None)
        holder.update({name: own} if own else {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}


def test_a_created_pod_owns_its_defaults_and_its_ports_by_port_and_protocol() -> None:
    title = "a creation of a pod owns the defaults too, ports by port and default protocol"
    (seen,) = golden("managed_fields", title)
    desk = Desk(PODS, tick=False)
    desk.write(_of_users(seen["body"]), "m1")
    assert _timeless(desk.entries) == _owned(seen)


def test_a_status_of_a_pod_is_owned_under_its_subresource() -> None:
    title = "the status of a pod is owned under its subresource, conditions by type"
    (seen,) = golden("managed_fields", title)
    desk = Desk(PODS, tick=False)
    live = desk.write(_of_users(seen["body"]), "m1")
    live["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
    desk.write({**live, "status": seen["body"]["status"]}, "m2", "status")
    assert _timeless(desk.entries) == _owned(seen)


def _made(area: str, title: str, at: int = 0) -> Any:
    return golden(area, title)[at]["body"]


def test_an_applied_pod_owns_only_what_was_applied() -> None:
    title = "a pod is applied; owned is only what was applied, ports with the default of their key"
    container = {
        "name": "app",
        "image": "i",
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "1"}],
        "args": ["a", "b"],
        "resources": {"requests": {"cpu": "1"}},
    }
    spec = {
        "containers": [container],
        "schedulerName": "nobody",
        "nodeSelector": {"a": "1"},
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "s"}],
    }
    desk = Desk(PODS, tick=False)
    desk.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}, "m1")
    entries = _made("apply_structures", title)["metadata"]["managedFields"]
    assert _timeless(desk.entries) == entries


def test_ports_of_a_service_are_merged_by_port_and_protocol() -> None:
    title = "ports of a service are merged by port and protocol"
    desk = Desk(native("", "Service", "status"), tick=False)
    steps = [
        ("m1", {"name": "web", "port": 80}),
        ("m2", {"name": "dns", "port": 80, "protocol": "UDP"}),
        ("m1", {"name": "web", "port": 81}),
    ]
    for at, (who, port) in enumerate(steps):
        spec = {"clusterIP": "None", "selector": {"app": "a"}, "ports": [port]}
        live = desk.apply(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}, who
        )
        for each in live["spec"]["ports"]:
            each.setdefault("protocol", "TCP")
        seen = _made("apply_structures", title, at)
        assert _timeless(desk.entries) == seen["metadata"]["managedFields"]
        names = [each["name"] for each in seen["spec"]["ports"]]
        assert [each["name"] for each in live["spec"]["ports"]] == names
