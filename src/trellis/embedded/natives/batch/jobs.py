# SPDX-License-Identifier: Apache-2.0
"""Jobs: their defaults, the selector the server makes for them, and what may change when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import FieldError, invalid, required
from trellis.embedded.natives.batch.spec import default_job, validate_job_spec
from trellis.embedded.natives.batch.status import validate_job_status
from trellis.embedded.natives.metadata import immutable, validate_metadata
from trellis.embedded.natives.pod.warnings import workload_warnings
from trellis.embedded.natives.selectors import matches, validate_selector
from trellis.embedded.natives.strategy import Native, keep
from trellis.embedded.natives.syntax import dns_label

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_FIXED = (
    ("completionMode", ""),
    ("podFailurePolicy", "*batch.PodFailurePolicy"),
    ("backoffLimitPerIndex", ""),
    ("managedBy", ""),
    ("successPolicy", "*batch.SuccessPolicy"),
)
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")


class Jobs(Native):
    def default(self, new: Object) -> None:
        default_job(new.setdefault("spec", {}))
        self._label(new)

    def _label(self, new: Object) -> None:
        """A job without labels has those of its pods: the same, so that both get those made."""
        labels = (new["spec"]["template"].get("metadata") or {}).get("labels")
        metadata = new.setdefault("metadata", {})
        if labels and not metadata.get("labels"):
            metadata["labels"] = labels

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        spec = new["spec"]
        if not spec.get("manualSelector"):
            _select_by_uid(spec, new["metadata"])

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_create(new, about)
        if not errors:
            # What reading from the storage fills in: too late to be looked at.
            self._label(new)
            if labels := new["metadata"].get("labels"):
                new["metadata"]["labels"] = dict(labels)
        return errors

    def check(self, new: Object) -> list[FieldError]:
        spec, metadata = new.get("spec") or {}, new["metadata"]
        errors = _generated(new) + _check_spec(spec)
        completions = spec.get("completions") or 0
        if spec.get("completionMode") == "Indexed" and completions > 0:
            longest = f"{metadata.get('name', '')}-{completions - 1}"
            if dns_label(longest):
                detail = f"will not able to create pod with invalid DNS label: {longest}"
                errors.append(invalid("metadata.name", metadata.get("name", ""), detail))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        # The server checks the whole job, and then its spec once more as part of the change.
        errors = validate_metadata(new, namespaced=True) + self.check(new)
        fresh, stored = new["spec"], old["spec"]
        errors += _check_spec(fresh)
        errors += _completions(fresh, stored)
        errors += immutable("spec.selector", fresh.get("selector"), stored.get("selector"))
        errors += _template(new, old)
        for name, shape in _FIXED:
            errors += immutable(f"spec.{name}", fresh.get(name), stored.get(name), shape)
        return errors

    def check_status(self, new: Object, old: Object) -> list[FieldError]:
        return validate_job_status(new, old)

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        return workload_warnings(new, old, "spec.template")


def _select_by_uid(spec: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Labels that tell this job's pods from all others, and a selector for them."""
    template = spec["template"].setdefault("metadata", {})
    labels = template["labels"] = template.get("labels") or {}
    for name in _NAMES:
        labels.setdefault(name, metadata.get("name", ""))
    for name in _UIDS:
        labels.setdefault(name, metadata["uid"])
    selector = spec["selector"] = spec.get("selector") or {}
    selector.setdefault("matchLabels", {}).setdefault(_UIDS[1], metadata["uid"])


def _generated(job: Object) -> list[FieldError]:
    """A selector that is the server's must be what the server would make."""
    spec, metadata = job.get("spec") or {}, job["metadata"]
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    expected = {
        **dict.fromkeys(_UIDS, metadata.get("uid", "")),
        **dict.fromkeys(_NAMES, metadata.get("name", "")),
    }
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    errors: list[FieldError] = []
    for key, value in expected.items():
        at = "spec.template.metadata.labels"
        if key not in labels:
            errors.append(required(at, f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(at, labels, f"must be '{value}'"))
    if not matches(selector, expected):
        errors.append(invalid("spec.selector", selector, "`selector` not auto-generated"))
    return errors


def _check_spec(spec: dict[str, Any]) -> list[FieldError]:
    errors = validate_job_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    errors += validate_selector(selector, "spec.selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if not matches(selector, labels or {}):
        detail = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", labels, detail))
    return errors


def _completions(new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    fresh, stored = new.get("completions"), old.get("completions")
    if new.get("completionMode") != "Indexed":
        return immutable("spec.completions", fresh, stored)
    if fresh in (stored, None) or fresh == new.get("parallelism"):
        return []
    detail = "can only be modified in tandem with spec.parallelism"
    return [invalid("spec.completions", fresh, detail)]


def _template(new: Object, old: Object) -> list[FieldError]:
    """Fixed, but for directives to the scheduler and resources while the job is suspended."""
    fresh, stored = new["spec"]["template"], copied(old["spec"]["template"])
    if not _open(old):
        return immutable("spec.template", fresh, stored, "core.PodTemplateSpec")
    pod, held = fresh.get("spec") or {}, stored["spec"]
    _take_node_affinity(pod, held)
    for name in _DIRECTIVES:
        keep(held, pod, name)
    for name in ("containers", "initContainers"):
        _take_resources(pod.get(name) or [], held.get(name) or [])
    return immutable("spec.template.spec", pod, held, "core.PodSpec")


def _open(job: Object) -> bool:
    status = job.get("status") or {}
    conditions = status.get("conditions") or ()
    paused = any(c.get("type") == "Suspended" and c.get("status") == "True" for c in conditions)
    never = status.get("startTime") is None
    return bool(job["spec"].get("suspend")) and (never or paused) and not status.get("active")


def _take_node_affinity(new: dict[str, Any], old: dict[str, Any]) -> None:
    affinity = dict(old.get("affinity") or {})
    keep(affinity, new.get("affinity") or {}, "nodeAffinity")
    if affinity or new.get("affinity") is not None:
        old["affinity"] = affinity
    else:
        old.pop("affinity", None)


def _take_resources(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> None:
    if len(new) != len(old):
        return
    for fresh, stored in zip(new, old, strict=True):
        if fresh.get("name") == stored.get("name"):
            keep(stored, fresh, "resources")
