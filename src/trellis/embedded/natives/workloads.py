# SPDX-License-Identifier: Apache-2.0
"""Deployments, replica sets, stateful sets, daemon sets and what belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import unchanged
from trellis.embedded.natives.numbers import (
    at_most_all,
    count_or_share,
    magnitude,
    not_decremented,
    not_negative,
    within,
)
from trellis.embedded.natives.pod.defaults import default_template
from trellis.embedded.natives.pod.validate import validate_template
from trellis.embedded.natives.pod.warnings import workload_warnings
from trellis.embedded.natives.rules import at_least, struct
from trellis.embedded.natives.selectors import is_empty, matches, validate_selector
from trellis.embedded.natives.storage.claims import default_claim, validate_claim_spec
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, dns_label

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_UNMATCHED = "`selector` does not match template `labels`"
_ABOVE = "cannot be greater than status.replicas"
_TEMPLATE = "spec.template"
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_SET_MAY_CHANGE = (
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)


def selector_and_template(spec: dict[str, Any], kind: str) -> list[FieldError]:
    """A selector that is there, is not empty, and fits the pods it is to select."""
    selector = spec.get("selector")
    errors: list[FieldError] = []
    if selector is None:
        errors.append(required("spec.selector"))
    else:
        errors += validate_selector(selector, "spec.selector")
        if is_empty(selector):
            detail = f"empty selector is invalid for {kind}"
            errors.append(invalid("spec.selector", selector, detail))
    template = spec.get("template") or {}
    return errors + fitting(selector, template) + validate_template(template, _TEMPLATE)


def fitting(selector: dict[str, Any] | None, template: dict[str, Any]) -> list[FieldError]:
    labels = (template.get("metadata") or {}).get("labels")
    if (selector is not None and is_empty(selector)) or matches(selector, labels or {}):
        return []
    return [invalid(f"{_TEMPLATE}.metadata.labels", labels, _UNMATCHED)]


def always_restarting(template: dict[str, Any], kind: str) -> list[FieldError]:
    spec = template.get("spec") or {}
    errors: list[FieldError] = []
    if spec.get("restartPolicy") != "Always":
        at = f"{_TEMPLATE}.spec.restartPolicy"
        errors.append(not_supported(at, spec.get("restartPolicy") or "", ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{_TEMPLATE}.spec.activeDeadlineSeconds", detail))
    return errors


class _Workload(Native):
    """What has a selector and a template of pods."""

    counters = (
        "observedGeneration",
        "replicas",
        "fullyLabeledReplicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    )
    within_replicas: tuple[str, ...] = ("updatedReplicas", "readyReplicas", "availableReplicas")
    names_hosts = True
    """Whether the server warns of a name that no host can have."""

    def default(self, new: Object) -> None:
        default_template(new.setdefault("spec", {}).setdefault("template", {}))
        self.default_spec(new["spec"])

    def default_spec(self, spec: dict[str, Any]) -> None:
        spec.setdefault("replicas", 1)

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.check(new) + unchanged(new, old, "spec.selector")

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        found = workload_warnings(new, old, _TEMPLATE)
        return (
            found if self.names_hosts else [each for each in found if "metadata.name" not in each]
        )

    def check_status(self, new: Object, old: Object) -> list[FieldError]:
        status = new.get("status") or {}
        errors = super().check_status(new, old)
        errors += within(status, self.within_replicas, "replicas", "status", _ABOVE)
        detail = "cannot be greater than readyReplicas"
        errors += within(status, ("availableReplicas",), "readyReplicas", "status", detail)
        return errors + not_decremented(status, old.get("status") or {}, "status")


class Deployments(_Workload):
    def default_spec(self, spec: dict[str, Any]) -> None:
        spec.setdefault("replicas", 1)
        strategy = spec.setdefault("strategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            rolling.setdefault("maxUnavailable", "25%")
            rolling.setdefault("maxSurge", "25%")
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = not_negative(spec, ("replicas",), "spec")
        errors += selector_and_template(spec, "deployment")
        errors += always_restarting(spec.get("template") or {}, "ReplicaSet")
        errors += _deployment_strategy(spec.get("strategy") or {}, "spec.strategy")
        numbers = ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
        errors += not_negative(spec, numbers, "spec")
        deadline = spec.get("progressDeadlineSeconds")
        if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
            detail = "must be greater than minReadySeconds"
            errors.append(invalid("spec.progressDeadlineSeconds", deadline, detail))
        return errors


def _deployment_strategy(strategy: dict[str, Any], path: str) -> list[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    at = f"{path}.rollingUpdate"
    if kind == "Recreate":
        detail = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(at, detail)]
    if kind != "RollingUpdate":
        shown = {"Type": kind or "", "RollingUpdate": rolling}
        return [not_supported(path, shown, ("Recreate", "RollingUpdate"))]
    most, surge = (rolling or {}).get("maxUnavailable", 0), (rolling or {}).get("maxSurge", 0)
    errors = count_or_share(most, f"{at}.maxUnavailable")
    errors += count_or_share(surge, f"{at}.maxSurge")
    if magnitude(most) == 0 and magnitude(surge) == 0:
        detail = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(f"{at}.maxUnavailable", most, detail))
    return errors + at_most_all(most, f"{at}.maxUnavailable")


class ReplicaSets(_Workload):
    within_replicas = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = not_negative(spec, ("replicas", "minReadySeconds"), "spec")
        errors += selector_and_template(spec, "deployment")
        return errors + always_restarting(spec.get("template") or {}, "ReplicaSet")


class StatefulSets(_Workload):
    within_replicas = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    names_hosts = False

    def default_spec(self, spec: dict[str, Any]) -> None:
        spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
        strategy = spec.setdefault("updateStrategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy.setdefault("rollingUpdate", {})
        if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
            strategy["rollingUpdate"].setdefault("partition", 0)
        keeping = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        for when in ("whenDeleted", "whenScaled"):
            keeping[when] = keeping.get(when) or "Retain"
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        for claim in spec.get("volumeClaimTemplates") or ():
            claim.setdefault("apiVersion", "v1")
            claim.setdefault("kind", "PersistentVolumeClaim")
            default_claim(claim)

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = self._policies(spec)
        for position, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            at = f"spec.volumeClaimTemplates[{position}].spec"
            errors += validate_claim_spec(claim.get("spec") or {}, at)
        errors += not_negative(spec, ("replicas", "minReadySeconds"), "spec")
        errors += not_negative(spec.get("ordinals") or {}, ("start",), "spec.ordinals")
        if name := spec.get("serviceName"):
            errors += check(dns_label, "spec.serviceName", name)
        errors += selector_and_template({**spec, "template": _as_made(spec)}, "statefulset")
        return errors + always_restarting(spec.get("template") or {}, "StatefulSet")

    def _policies(self, spec: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        if spec.get("podManagementPolicy") not in {"OrderedReady", "Parallel"}:
            detail = "must be 'OrderedReady' or 'Parallel'"
            value = spec.get("podManagementPolicy") or ""
            errors.append(invalid("spec.podManagementPolicy", value, detail))
        strategy = spec.get("updateStrategy") or {}
        if strategy.get("type") not in {"RollingUpdate", "OnDelete"}:
            shown = printed("apps.StatefulSetUpdateStrategy", strategy)
            detail = "must be 'RollingUpdate' or 'OnDelete'"
            errors.append(invalid("spec.updateStrategy", shown, detail))
        rolling = strategy.get("rollingUpdate") or {}
        errors += not_negative(rolling, ("partition",), "spec.updateStrategy.rollingUpdate")
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        fresh, stored = (
            {name: value for name, value in held["spec"].items() if name not in _SET_MAY_CHANGE}
            for held in (new, old)
        )
        if fresh != stored:
            detail = (
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                "'template', 'updateStrategy', 'revisionHistoryLimit', "
                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
            )
            errors.append(forbidden("spec", detail))
        return errors


def _as_made(spec: dict[str, Any]) -> dict[str, Any]:
    """The template as the controller will use it: claims are volumes, names are its own."""
    template = dict(spec.get("template") or {})
    pod = {
        k: v for k, v in (template.get("spec") or {}).items() if k not in {"hostname", "subdomain"}
    }
    if claims := spec.get("volumeClaimTemplates"):
        names = [(claim.get("metadata") or {}).get("name") or "" for claim in claims]
        made = [
            {"name": n, "persistentVolumeClaim": {"claimName": n}} for n in dict.fromkeys(names)
        ]
        own = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
        pod["volumes"] = [*made, *own]
    return {**template, "spec": pod}


class DaemonSets(_Workload):
    counters = (
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    )
    within_replicas = ()
    names_hosts = False

    def default(self, new: Object) -> None:
        super().default(new)
        annotations = new.setdefault("metadata", {}).setdefault("annotations", {})
        annotations.setdefault(_TEMPLATE_GENERATION, "0")

    def default_spec(self, spec: dict[str, Any]) -> None:
        strategy = spec.setdefault("updateStrategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            rolling.setdefault("maxUnavailable", 1)
            rolling.setdefault("maxSurge", 0)
        spec.setdefault("revisionHistoryLimit", 10)

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        new["metadata"].setdefault("annotations", {})[_TEMPLATE_GENERATION] = "1"

    def prepare_main(self, new: Object, old: Object) -> None:
        before = (old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "0")
        counted = int(before) if before.isascii() and before.isdigit() else 0
        changed = new["spec"].get("template") != old["spec"].get("template")
        annotations = new["metadata"].setdefault("annotations", {})
        annotations[_TEMPLATE_GENERATION] = str(counted + changed)

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        selector, template = spec.get("selector"), spec.get("template") or {}
        errors = validate_selector(selector, "spec.selector")
        labels = (template.get("metadata") or {}).get("labels")
        if not matches(selector, labels or {}):
            errors.append(invalid(f"{_TEMPLATE}.metadata.labels", labels, _UNMATCHED))
        if selector is not None and is_empty(selector):
            detail = "empty selector is invalid for daemonset"
            errors.append(invalid("spec.selector", selector, detail))
        errors += validate_template(template, _TEMPLATE)
        errors += always_restarting(template, "DaemonSet")
        errors += not_negative(spec, ("minReadySeconds", "revisionHistoryLimit"), "spec")
        return errors + _daemon_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")


def _daemon_strategy(strategy: dict[str, Any], path: str) -> list[FieldError]:
    kind, at = strategy.get("type"), f"{path}.rollingUpdate"
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, kind or "", ("RollingUpdate", "OnDelete"))]
    rolling = strategy.get("rollingUpdate") or {}
    most, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    errors: list[FieldError] = []
    for name, value in (("maxUnavailable", most), ("maxSurge", surge)):
        errors += count_or_share(value, f"{at}.{name}") + at_most_all(value, f"{at}.{name}")
    if magnitude(most) and magnitude(surge):
        detail = "may not be set when maxUnavailable is non-zero"
        errors.append(invalid(f"{at}.maxSurge", surge, detail))
    elif not magnitude(most) and not magnitude(surge):
        detail = "cannot be 0 when maxSurge is 0"
        errors.append(required(f"{at}.maxUnavailable", detail))
    return errors


def _revision(data: Any, path: str) -> list[FieldError]:
    if isinstance(data, dict):
        return []
    said = "is mandatory" if data is None else "must be a valid JSON object"
    return [required(path, f"data {said}")]


class ControllerRevisions(Native):
    rules = struct(revision=at_least(0), data=_revision)

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.check(new) + unchanged(new, old, "data")
