# SPDX-License-Identifier: Apache-2.0
"""The strategy of pods, and of pod templates that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, forbidden
from trellis.embedded.natives.goforms import difference
from trellis.embedded.natives.metadata import validate_metadata_update
from trellis.embedded.natives.pod.defaults import default_pod, default_template
from trellis.embedded.natives.pod.status import born, keep_observed, validate_status
from trellis.embedded.natives.pod.update import validate_change
from trellis.embedded.natives.pod.validate import (
    validate_new_pod,
    validate_pod,
    validate_pod_spec,
    validate_template,
)
from trellis.embedded.natives.pod.warnings import name_warnings, pod_warnings
from trellis.embedded.natives.strategy import Native, keep

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_RESIZED = ("resources", "resizePolicy")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Pods(Native):
    def default(self, new: Object) -> None:
        default_pod(new)

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        new["metadata"]["generation"] = 1
        new["status"] = born(new, about.now)
        _merge_label_keys(new)

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        if about.subresource in {"ephemeralcontainers", "resize"}:
            self._prepare_part(new, old, about.subresource)
        super().prepare_update(new, old, about)

    def _prepare_part(self, new: Object, old: Object, subresource: str) -> None:
        """Only that part of the spec is taken, and no metadata."""
        fresh, stored = new.get("spec") or {}, old["spec"]
        spec = dict(stored)
        if subresource == "ephemeralcontainers":
            keep(spec, fresh, "ephemeralContainers")
        else:
            for name in ("containers", "initContainers"):
                resized = _resized(fresh.get(name) or [], stored.get(name) or [])
                if resized:
                    spec[name] = resized
            keep(spec, fresh, "resources")
        new["spec"] = spec
        for name in _METADATA:
            keep(new["metadata"], old["metadata"], name)

    def prepare_status(self, new: Object, old: Object) -> None:
        super().prepare_status(new, old)
        keep(new["metadata"], old["metadata"], "ownerReferences")
        keep(new["metadata"], old["metadata"], "deletionTimestamp")
        status, before = new.setdefault("status", {}), old.get("status") or {}
        if not status.get("qosClass"):
            keep(status, before, "qosClass")
        keep_observed(status, before)

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:  # noqa: ARG002
        return validate_new_pod(new)

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        errors = validate_metadata_update(new, old)
        if about.subresource == "status":
            return errors + validate_status(new, old)
        if about.subresource == "ephemeralcontainers":
            return errors + validate_pod_spec(new["spec"], "spec", pod=True) + _debugged(new, old)
        if about.subresource == "resize":
            return errors + validate_pod(new) + _only_resized(new, old)
        # A spec that did not change was good when it was stored.
        if new.get("spec") != old.get("spec"):
            errors += validate_pod(new) + validate_change(new, old)
        return errors

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        if old is not None:
            return []
        return name_warnings(new["metadata"]["name"], "the Pod's hostname") + pod_warnings(new)


def _resized(fresh: list[dict[str, Any]], stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stored containers with the new resources; the new ones if they do not pair up."""
    if [each.get("name") for each in fresh] != [each.get("name") for each in stored]:
        return fresh
    done = []
    for new, old in zip(fresh, stored, strict=True):
        container = dict(old)
        for name in _RESIZED:
            keep(container, new, name)
        done.append(container)
    return done


def _debugged(new: Object, old: Object) -> list[FieldError]:
    """Ephemeral containers are only ever added."""
    fresh = {c.get("name"): c for c in new["spec"].get("ephemeralContainers") or ()}
    errors: list[FieldError] = []
    path = "spec.ephemeralContainers"
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container.get("name")
        if name not in fresh:
            detail = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(forbidden(path, detail))
        elif fresh[name] != container:
            shown = difference("core.EphemeralContainer", container, fresh[name])
            detail = f'existing ephemeral containers "{name}" may not be changed\n{shown}'
            errors.append(forbidden(path, detail))
    return errors


def _only_resized(new: Object, old: Object) -> list[FieldError]:
    """Of the resources only CPU and memory change in place."""
    if _without_compute(new["spec"]) == _without_compute(old["spec"]):
        return []
    return [forbidden("spec", "only cpu and memory resources are mutable")]


def _without_compute(spec: dict[str, Any]) -> dict[str, Any]:
    done = dict(spec)
    for name in ("containers", "initContainers"):
        if name in done:
            done[name] = [_uncomputed(container) for container in done[name]]
    return _uncomputed(done)


def _uncomputed(holder: dict[str, Any]) -> dict[str, Any]:
    resources = dict(holder.get("resources") or {})
    for which in ("limits", "requests"):
        amounts = resources.pop(which, None) or {}
        rest = {n: amount for n, amount in amounts.items() if n not in {"cpu", "memory"}}
        if rest:
            resources[which] = rest
    rest = {name: value for name, value in holder.items() if name not in _RESIZED}
    return {**rest, "resources": resources}


def _merge_label_keys(pod: Object) -> None:
    """`matchLabelKeys` become requirements of the selector, by the values of the pod's labels."""
    labels, spec = pod["metadata"].get("labels") or {}, pod["spec"]
    for constraint in spec.get("topologySpreadConstraints") or ():
        _require(constraint, labels)
    for name in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(name) or {}
        for term in affinity.get(_REQUIRED) or ():
            _require(term, labels)
        for weighted in affinity.get(_PREFERRED) or ():
            _require(weighted.get("podAffinityTerm") or {}, labels)


def _require(term: dict[str, Any], labels: dict[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(name) or ():
            if key in labels:
                requirement = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(requirement)


class PodTemplates(Native):
    def default(self, new: Object) -> None:
        default_template(new.setdefault("template", {}))

    def check(self, new: Object) -> list[FieldError]:
        return validate_template(new.get("template") or {}, "template")

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        if old is not None and new.get("template") == old.get("template"):
            return []
        return pod_warnings(new.get("template") or {}, "template")
