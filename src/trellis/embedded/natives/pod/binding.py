# SPDX-License-Identifier: Apache-2.0
"""Binding a pod to a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.conditions import set_condition
from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import FieldError, joined, not_supported, required
from trellis.embedded.refusals import Refusal, bad_request, conflict

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


def check_binding(binding: Object, name: str) -> None:
    """Refuses a binding that is malformed; `name` is the pod's in the path."""
    if (binding.get("metadata") or {}).get("name", "") != name:
        raise bad_request("name in URL does not match name in Binding object")
    target = binding.get("target") or {}
    errors: list[FieldError] = []
    if (target.get("kind") or "") not in {"", "Node"}:
        errors.append(not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    if errors:
        raise Refusal(500, "", joined(errors))


def bind(pod: Object, binding: Object, now: str) -> Object:
    """The pod as it is once bound. Preconditions of the binding are heeded."""
    metadata = pod["metadata"]
    _check_preconditions(metadata, binding.get("metadata") or {})
    if problem := _problem(pod):
        raise conflict("", "pods/binding", metadata["name"], problem)
    bound = copied(pod)
    bound["spec"]["nodeName"] = binding["target"]["name"]
    status = bound.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    for name in ("annotations", "labels"):
        if added := (binding.get("metadata") or {}).get(name):
            bound["metadata"][name] = {**(bound["metadata"].get(name) or {}), **added}
    set_condition(status, {"type": "PodScheduled", "status": "True", "lastProbeTime": None}, now)
    return bound


def _problem(pod: Object) -> str:
    name, spec = pod["metadata"]["name"], pod.get("spec") or {}
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if node := spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{node}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _check_preconditions(stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, said in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(name) and wanted[name] != stored.get(name):
            key = f"/registry/pods/{stored.get('namespace')}/{stored['name']}"
            problem = (
                f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: {said} in precondition: {wanted[name]}, "
                f"{said} in object meta: {stored.get(name)}"
            )
            raise conflict("", "pods", stored["name"], problem)
