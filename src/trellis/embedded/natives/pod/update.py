# SPDX-License-Identifier: Apache-2.0
"""What of a pod may change once it exists: little, and a little more while it is gated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, forbidden, invalid, required
from trellis.embedded.natives.goforms import difference, printed
from trellis.embedded.natives.pod.containers import validate_image
from trellis.embedded.natives.pod.scheduling import validate_tolerations
from trellis.embedded.natives.strategy import keep
from trellis.embedded.natives.syntax import in_range

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_MAY_CHANGE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
_DEADLINE = "spec.activeDeadlineSeconds"
_MOST = (1 << 31) - 1


def validate_change(new: Object, old: Object) -> list[FieldError]:
    fresh, stored = new.get("spec") or {}, old.get("spec") or {}
    if fresh == stored:
        return []
    errors: list[FieldError] = []
    for name in ("containers", "initContainers"):
        found, stop = _containers(fresh.get(name) or [], stored.get(name) or [], f"spec.{name}")
        errors += found
        if stop:
            return errors
    found, stop = _deadline(fresh.get("activeDeadlineSeconds"), stored.get("activeDeadlineSeconds"))
    errors += found
    if stop:
        return errors
    errors += _tolerations(fresh.get("tolerations") or [], stored.get("tolerations") or [])
    errors += _gates(fresh.get("schedulingGates") or [], stored.get("schedulingGates") or [])
    return errors + _rest(fresh, stored)


def _containers(
    new: list[dict[str, Any]], old: list[dict[str, Any]], path: str
) -> tuple[list[FieldError], bool]:
    if len(new) != len(old):
        return [forbidden(path, "pod updates may not add or remove containers")], True
    errors: list[FieldError] = []
    for position, container in enumerate(new):
        at = f"{path}[{position}]"
        if not container.get("image"):
            errors.append(required(f"{at}.image"))
        errors += validate_image(container, at)
    return errors, False


def _deadline(new: int | None, old: int | None) -> tuple[list[FieldError], bool]:
    if new is None:
        detail = "must not update from a positive integer to nil value"
        return ([] if old is None else [invalid(_DEADLINE, None, detail)]), False
    if problems := in_range(new, 0, _MOST):
        return [invalid(_DEADLINE, new, problem) for problem in problems], True
    if old is not None and old < new:
        detail = "must be less than or equal to previous value"
        return [invalid(_DEADLINE, new, detail)], True
    return [], False


def _tolerations(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> list[FieldError]:
    kept = [_untimed(each) for each in new]
    if any(_untimed(each) not in kept for each in old):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        return [forbidden("spec.tolerations", detail)]
    return validate_tolerations(new, "spec.tolerations")


def _untimed(toleration: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gates(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> list[FieldError]:
    had = {gate.get("name") for gate in old}
    detail = "only deletion is allowed, but found new scheduling gate"
    return [
        forbidden(f"spec.schedulingGates[{position}].name", f"{detail} '{gate.get('name')}'")
        for position, gate in enumerate(new)
        if gate.get("name") not in had
    ]


def _rest(fresh: dict[str, Any], stored: dict[str, Any]) -> list[FieldError]:
    """Everything else must be as it was, once what may change is put back."""
    errors: list[FieldError] = []
    munged = dict(fresh)
    for name in ("containers", "initContainers"):
        if name in munged:
            old = stored.get(name) or []
            munged[name] = [
                {**container, "image": old[position].get("image")}
                for position, container in enumerate(munged[name])
            ]
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        keep(munged, stored, name)
    grace = stored.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        keep(munged, stored, "terminationGracePeriodSeconds")
    if stored.get("schedulingGates"):
        errors += _while_gated(munged, stored)
    if munged == stored:
        return errors
    shown = difference("core.PodSpec", stored, munged)
    detail = f"pod updates may not change fields other than {_MAY_CHANGE}\n{shown}"
    return [*errors, forbidden("spec", detail)]


def _while_gated(munged: dict[str, Any], stored: dict[str, Any]) -> list[FieldError]:
    """A gated pod's node selector may get keys, and its node affinity may get narrower."""
    errors: list[FieldError] = []
    new, old = munged.get("nodeSelector") or {}, stored.get("nodeSelector") or {}
    if new != old:
        if any(new.get(key) != value for key, value in old.items()):
            detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            errors.append(invalid("spec.nodeSelector", new or None, detail))
        keep(munged, stored, "nodeSelector")
    before = (stored.get("affinity") or {}).get("nodeAffinity")
    after = (munged.get("affinity") or {}).get("nodeAffinity")
    if before != after:
        errors += _narrowed(after or {}, before or {})
        others = {k: v for k, v in (munged.get("affinity") or {}).items() if k != "nodeAffinity"}
        if before is not None:
            munged["affinity"] = {**others, "nodeAffinity": before}
        elif others or stored.get("affinity") is not None:
            munged["affinity"] = others
        else:
            munged.pop("affinity", None)
    return errors


def _narrowed(after: dict[str, Any], before: dict[str, Any]) -> list[FieldError]:
    old = (before.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = (after.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not old:
        return []
    if len(old) != len(new):
        shown = printed("[]core.NodeSelectorTerm", new or None)
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(_TERMS, shown, detail)]
    detail = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{_TERMS}[{position}]", printed("core.NodeSelectorTerm", term), detail)
        for position, term in enumerate(new)
        if not _only_added(term, old[position])
    ]


def _only_added(new: dict[str, Any], old: dict[str, Any]) -> bool:
    names = ("matchExpressions", "matchFields")
    if not any(old.get(name) for name in names):
        return not any(new.get(name) for name in names)
    return all((new.get(n) or [])[: len(old.get(n) or [])] == (old.get(n) or []) for n in names)
