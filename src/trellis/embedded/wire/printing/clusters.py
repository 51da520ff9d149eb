# SPDX-License-Identifier: Apache-2.0
"""Rows of nodes, namespaces, settings, events, access and admission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.wire.printing.ages import human, since
from trellis.embedded.wire.printing.values import (
    NONE,
    UNKNOWN,
    UNSET,
    Cells,
    Object,
    age,
    at,
    count,
    holds,
    name,
    row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_ROLE = "node-role.kubernetes.io/"


def node(obj: Object, now: datetime) -> list[Any]:
    about = at(obj, "status", "nodeInfo", default={})
    kernel = about.get("kernelVersion") or UNKNOWN
    if about.get("architecture"):
        kernel += f" ({about['architecture']})"
    addresses = at(obj, "status", "addresses", default=())
    return [
        name(obj),
        _node_state(obj),
        ",".join(_roles(obj)) or NONE,
        age(obj, now),
        about.get("kubeletVersion", ""),
        *(_address(addresses, kind) for kind in ("InternalIP", "ExternalIP")),
        about.get("osImage") or UNKNOWN,
        kernel,
        about.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_state(obj: Object) -> str:
    kinds = {each.get("type") for each in at(obj, "status", "conditions", default=())}
    state = "Unknown"
    if "Ready" in kinds:
        state = "Ready" if holds(obj, "Ready") else "NotReady"
    return f"{state},SchedulingDisabled" if at(obj, "spec", "unschedulable") else state


def _roles(obj: Object) -> list[str]:
    labels = obj["metadata"].get("labels") or {}
    found = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    return sorted({*found, labels.get("kubernetes.io/role", "")} - {""})


def _address(addresses: Iterable[Object], kind: str) -> str:
    return next((str(each["address"]) for each in addresses if each.get("type") == kind), NONE)


namespace = row("status.phase", age)
config_map = row(lambda obj, _: len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age)
secret = row("type", count("data"), age)


def quota(obj: Object, now: datetime) -> list[Any]:
    hard, used = (at(obj, "status", field, default={}) for field in ("hard", "used"))
    texts = {name: f"{name}: {used.get(name, '0')}/{hard[name]}" for name in sorted(hard)}
    limits = [text for name, text in texts.items() if name.startswith("limits.")]
    others = [text for name, text in texts.items() if not name.startswith("limits.")]
    return [name(obj), ", ".join(others), ", ".join(limits), age(obj, now)]


def event(obj: Object, now: datetime) -> list[Any]:
    """Of either group: one event is stored, and each group has its own words for its fields."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    component = source.get("component") or _either(obj, "reportingComponent", "reportingController")
    instance = source.get("host") or obj.get("reportingInstance") or ""
    first, last, count = _seen(obj, now)
    kind, who = str(about.get("kind", "")).lower(), about.get("name")
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{who}" if who else kind,
        about.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        _either(obj, "message", "note").strip(),
        first,
        count,
        name(obj),
    ]


def _either(obj: Object, *names: str) -> str:
    return next((str(obj[each]) for each in names if obj.get(each)), "")


def _seen(obj: Object, now: datetime) -> tuple[str, str, int]:
    """When it was seen first and last, and how often."""
    first = since(
        _either(obj, "firstTimestamp", "deprecatedFirstTimestamp") or obj.get("eventTime"), now
    )
    latest = _either(obj, "lastTimestamp", "deprecatedLastTimestamp")
    last = since(latest, now) if latest else first
    series = obj.get("series")
    if series:
        return first, since(series.get("lastObservedTime"), now), series.get("count", 0)
    return first, last, obj.get("count") or obj.get("deprecatedCount") or 1


def signing_request(obj: Object, now: datetime) -> list[Any]:
    kinds = {each.get("type") for each in at(obj, "status", "conditions", default=())}
    state = next((word for word in ("Denied", "Approved") if word in kinds), "Pending")
    state += ",Failed" if "Failed" in kinds else ""
    state += ",Issued" if at(obj, "status", "certificate") else ""
    lasting = at(obj, "spec", "expirationSeconds")
    return [
        name(obj),
        age(obj, now),
        at(obj, "spec", "signerName", default=NONE),
        at(obj, "spec", "username", default=""),
        NONE if lasting is None else human(lasting),
        state,
    ]


def _dangling(obj: Object, _: datetime) -> str:
    for each in at(obj, "status", "conditions", default=()):
        if each.get("type") == "Dangling":
            return str(each.get("status", ""))
    return "?"


flow_schema = row(
    "spec.priorityLevelConfiguration.name",
    "spec.matchingPrecedence=0",
    f"spec.distinguisherMethod.type={NONE}",
    age,
    _dangling,
)
priority_level = row(
    "spec.type",
    f"spec.limited.nominalConcurrencyShares={NONE}",
    f"spec.limited.limitResponse.queuing.queues={NONE}",
    f"spec.limited.limitResponse.queuing.handSize={NONE}",
    f"spec.limited.limitResponse.queuing.queueLengthLimit={NONE}",
    age,
)


def api_service(obj: Object, now: datetime) -> list[Any]:
    service = at(obj, "spec", "service")
    place = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    available = "Unknown"
    for each in at(obj, "status", "conditions", default=()):
        if each.get("type") == "Available":
            reason = each.get("reason", "")
            held = each.get("status") == "True"
            available = "True" if held else f"{each.get('status', '')} ({reason})"
    return [name(obj), place, available, age(obj, now)]


def binding(obj: Object, now: datetime) -> list[Any]:
    subjects = obj.get("subjects") or ()

    def named(kind: str) -> str:
        return ", ".join(str(each.get("name", "")) for each in subjects if each.get("kind") == kind)

    accounts = ", ".join(
        f"{each.get('namespace', '')}/{each.get('name', '')}"
        for each in subjects
        if each.get("kind") == "ServiceAccount"
    )
    role = obj.get("roleRef") or {}
    reference = f"{role.get('kind', '')}/{role.get('name', '')}"
    return [name(obj), reference, age(obj, now), named("User"), named("Group"), accounts]


def policy(field: str) -> Cells:
    def cells(obj: Object, now: datetime) -> list[Any]:
        kind = at(obj, "spec", "paramKind")
        named = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET
        return [name(obj), len(at(obj, "spec", field, default=())), named, age(obj, now)]

    return cells


def policy_binding(obj: Object, now: datetime) -> list[Any]:
    reference = at(obj, "spec", "paramRef")
    shown = UNSET
    if reference and reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference and reference.get("selector") is not None:
        shown = _go_selector(reference["selector"])
    return [name(obj), at(obj, "spec", "policyName", default=""), shown, age(obj, now)]


def _go_selector(selector: Object) -> str:
    """As Go prints the struct: this one column forgot to format it."""
    labels = sorted((selector.get("matchLabels") or {}).items())
    pairs = "".join(f"{key}: {value}," for key, value in labels)
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def component_status(obj: Object, _: datetime) -> list[Any]:
    for each in obj.get("conditions") or ():
        if each.get("type") == "Healthy":
            state = "Healthy" if each.get("status") == "True" else "Unhealthy"
            return [name(obj), state, each.get("message", ""), each.get("error", "")]
    return [name(obj), "Unknown", "", ""]
