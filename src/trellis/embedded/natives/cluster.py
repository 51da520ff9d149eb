# SPDX-License-Identifier: Apache-2.0
"""Namespaces, nodes, leases, events and classes of priority and runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    DUPLICATE,
    FieldError,
    forbidden,
    invalid,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import unchanged
from trellis.embedded.natives.pod.scheduling import validate_taint_effect
from trellis.embedded.natives.quantities import check_amount, rounded_to_milli
from trellis.embedded.natives.rules import any_text, at_least, every, one_of, struct
from trellis.embedded.natives.strategy import Native, keep
from trellis.embedded.natives.syntax import check, cidr, dns_label, label_key, label_value

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"
_FINALIZERS = "spec.finalizers"
_MOST_PRIORITY = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


class Namespaces(Native):
    def default(self, new: Object) -> None:
        metadata = new.setdefault("metadata", {})
        if name := metadata.get("name"):
            metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: name}
        new.setdefault("spec", {})
        status = new["status"] = new.get("status") or {}
        status["phase"] = status.get("phase") or "Active"

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        new["status"] = {"phase": "Active"}
        held = new.setdefault("spec", {}).get("finalizers") or []
        new["spec"]["finalizers"] = held if FINALIZER in held else [*held, FINALIZER]
        self.default(new)

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        if about.subresource == "finalize":
            keep(new, old, "status")
            return
        super().prepare_update(new, old, about)

    def prepare_main(self, new: Object, old: Object) -> None:
        spec = new["spec"] = dict(new.get("spec") or {})
        keep(spec, old.get("spec") or {}, "finalizers")

    def prepare_status(self, new: Object, old: Object) -> None:
        keep(new, old, "spec")

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_update(new, old, about)
        if about.subresource != "finalize":
            return errors
        return errors + every(_finalizer)((new.get("spec") or {}).get("finalizers"), _FINALIZERS)

    def check_status(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        phase = (new.get("status") or {}).get("phase")
        going = bool(new["metadata"].get("deletionTimestamp"))
        if going and phase != "Terminating":
            detail = "may only be 'Terminating' if `deletionTimestamp` is not empty"
            return [invalid("status.Phase", phase, detail)]
        if not going and phase != "Active":
            detail = "may only be 'Active' if `deletionTimestamp` is empty"
            return [invalid("status.Phase", phase, detail)]
        return []


def _finalizer(name: str, path: str) -> list[FieldError]:
    problems = check(label_key, path, name)
    if problems or "/" in name or name == FINALIZER:
        return problems
    detail = "name is neither a standard finalizer name nor is it fully qualified"
    return [invalid(path, name, detail)]


class Nodes(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        single, several = spec.get("podCIDR"), spec.get("podCIDRs") or []
        if single and (not several or several[0] != single):
            spec["podCIDRs"] = [single]
        elif several and not single:
            spec["podCIDR"] = several[0]
        status = new.get("status") or {}
        for name in ("capacity", "allocatable"):
            if status.get(name):
                rounded_to_milli(status[name])
        if status.get("capacity") is not None and status.get("allocatable") is None:
            status["allocatable"] = dict(status["capacity"])

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        """A node brings its status along: whoever makes it knows what it has."""

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = _taints(spec.get("taints") or [], "metadata.taints")
        errors += _capacities(new.get("status") or {})
        return errors + every(any_text(cidr))(spec.get("podCIDRs"), "spec.podCIDRs")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        # The server checks the whole node, and most of it once more as part of the change.
        return self.check(new) + self.check_status(new, old)

    def check_status(self, new: Object, old: Object) -> list[FieldError]:
        fresh, stored = new.get("spec") or {}, old.get("spec") or {}
        errors = _capacities(new.get("status") or {})
        errors += _taints(fresh.get("taints") or [], "metadata.taints")
        if stored.get("podCIDRs") and fresh.get("podCIDRs") != stored["podCIDRs"]:
            detail = 'node updates may not change podCIDR except from "" to valid'
            errors.append(forbidden("spec.podCIDRs", detail))
        if stored.get("providerID") and fresh.get("providerID") != stored["providerID"]:
            detail = 'node updates may not change providerID except from "" to valid'
            errors.append(forbidden("spec.providerID", detail))
        return errors


def _taints(taints: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        at = f"{path}[{position}]"
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        errors += check(label_key, f"{at}.key", key)
        if problems := label_value(taint.get("value") or ""):
            errors.append(invalid(f"{at}.value", taint["value"], ";".join(problems)))
        errors += validate_taint_effect(effect, f"{at}.effect")
        if (key, effect) in seen:
            detail = "taints must be unique by key and effect pair"
            errors.append(FieldError(DUPLICATE, at, printed("core.Taint", taint), detail))
        seen.add((key, effect))
    return errors


def _capacities(status: dict[str, Any]) -> list[FieldError]:
    return [
        error
        for which in ("capacity", "allocatable")
        for name, amount in (status.get(which) or {}).items()
        for error in check_amount(name, amount, f"status.{which}.{name}")
    ]


class Leases(Native):
    rules = struct(
        spec=struct(
            leaseDurationSeconds=at_least(1, "must be greater than 0"), leaseTransitions=at_least(0)
        )
    )


class Events(Native):
    """Events carry much that is always written, empty or not; the schema fills that in."""

    def default(self, new: Object) -> None:
        # The newer group has another name for who reports.
        reporter = "reportingController" if "/" in new["apiVersion"] else "reportingComponent"
        new[reporter] = new.get(reporter) or ""
        new["reportingInstance"] = new.get("reportingInstance") or ""

    def check(self, new: Object) -> list[FieldError]:
        involved = (new.get("involvedObject") or new.get("regarding") or {}).get("namespace") or ""
        namespace = new["metadata"].get("namespace") or ""
        if namespace in ((involved,) if involved else ("", "default")):
            return []
        return [invalid("involvedObject.namespace", involved, "does not match event.namespace")]


class PriorityClasses(Native):
    def default(self, new: Object) -> None:
        new.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def prepare_create(self, new: Object, about: Circumstances) -> None:  # noqa: ARG002
        new["metadata"]["generation"] = 1

    def check(self, new: Object) -> list[FieldError]:
        name, value = new["metadata"].get("name") or "", new.get("value") or 0
        errors: list[FieldError] = []
        if name.startswith("system-"):
            if problem := _not_the_systems(new, name, value):
                detail = (
                    "priority class names with 'system-' prefix are reserved for system use only. "
                    f"error: {problem}"
                )
                errors.append(forbidden("metadata.name", detail))
        elif value > _MOST_PRIORITY:
            detail = f"maximum allowed value of a user defined priority is {_MOST_PRIORITY}"
            errors.append(forbidden("value", detail))
        policies = one_of("PreemptLowerPriority", "Never")
        return errors + policies(new.get("preemptionPolicy"), "preemptionPolicy")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if (new.get("value") or 0) != (old.get("value") or 0):
            errors.append(forbidden("value", "may not be changed in an update."))
        return errors + unchanged(new, old, "preemptionPolicy")


def _not_the_systems(new: Object, name: str, value: int) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return (
        f"globalDefault of {name} PriorityClass must be false" if new.get("globalDefault") else ""
    )


class RuntimeClasses(Native):
    rules = struct(handler=any_text(dns_label))

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return unchanged(new, old, "handler")
