# SPDX-License-Identifier: Apache-2.0
"""Groups that belong to the Kubernetes project need its approval, or to say that they lack it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from trellis.embedded.fielderrors import FieldError, invalid, key, required

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_ANNOTATION = "api-approved.kubernetes.io"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
_MUST = f'protected groups must have approval annotation "{_ANNOTATION}"'
_DOMAINS = ("k8s.io", "kubernetes.io")
# What the condition of a definition says: its status and its reason.
_CONDITIONS = {
    "approved": ("True", "ApprovedAnnotation"),
    "bypassed": ("False", "UnapprovedAnnotation"),
    "missing": ("False", "MissingAnnotation"),
    "invalid": ("False", "InvalidAnnotation"),
}


def check_approval(new: Object, old: Object | None) -> list[FieldError]:
    """What was so before stays allowed."""
    if not _protected(new):
        return []
    state, said = _state(new)
    if old is not None and _state(old)[0] == state:
        return []
    path = key("metadata.annotations", _ANNOTATION)
    if state == "missing":
        return [required(path, said)]
    return [invalid(path, _annotation(new), said)] if state == "invalid" else []


def approval_condition(crd: Object) -> Object | None:
    """Without a time; None for groups that anybody may use."""
    if not _protected(crd):
        return None
    state, said = _state(crd)
    status, reason = _CONDITIONS[state]
    kind = "KubernetesAPIApprovalPolicyConformant"
    return {"type": kind, "status": status, "reason": reason, "message": said}


def _protected(crd: Object) -> bool:
    group = crd["spec"].get("group") or ""
    return any(group == domain or group.endswith(f".{domain}") for domain in _DOMAINS)


def _annotation(crd: Object) -> str:
    annotations: dict[str, str] = crd["metadata"].get("annotations") or {}
    return annotations.get(_ANNOTATION, "")


def _state(crd: Object) -> tuple[str, str]:
    annotation = _annotation(crd)
    if not annotation:
        return "missing", f"{_MUST}, {_SEE}"
    if annotation.startswith("unapproved"):
        return "bypassed", f'not approved: "{annotation}"'
    try:
        parts = urlsplit(annotation)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme and parts.netloc:
        return "approved", f"approved in {annotation}"
    return "invalid", f'{_MUST} with either a URL or a reason starting with "unapproved", {_SEE}'
