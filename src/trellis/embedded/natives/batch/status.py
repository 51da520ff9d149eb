# SPDX-License-Identifier: Apache-2.0
"""The status of a job: counters, times and conditions that must fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import UNSHOWN, FieldError, duplicate, invalid, required
from trellis.embedded.natives.numbers import not_negative

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_PATH = "status.conditions"
_COUNTERS = ("active", "succeeded", "failed", "ready", "terminating")
# Pairs that exclude each other, and pairs of which the first needs the second.
_EXCLUSIVE = (
    ("Complete", "Failed"),
    ("Complete", "FailureTarget"),
    ("SuccessCriteriaMet", "Failed"),
    ("SuccessCriteriaMet", "FailureTarget"),
)
_NEEDED = (
    ("Failed", "FailureTarget"),
    ("Complete", "SuccessCriteriaMet"),
)
_LASTING = {
    "Failed": "terminal ",
    "Complete": "terminal ",
    "FailureTarget": "terminal ",
    "SuccessCriteriaMet": "",
}


def validate_job_status(new: Object, old: Object) -> list[FieldError]:
    status, before = new.get("status") or {}, old.get("status") or {}
    true, was = _true(status), _true(before)
    errors = not_negative(status, _COUNTERS, "status")
    errors += _uncounted(status.get("uncountedTerminatedPods") or {})
    errors += _conditions(true, was)
    errors += _times(status, before, true, new.get("spec") or {})
    errors += _finished(status, true)
    errors += _indexes(status, new.get("spec") or {})
    if (status.get("ready") or 0) > (status.get("active") or 0):
        detail = "cannot set more ready pods than active"
        errors.append(invalid("status.ready", status["ready"], detail))
    for name in ("failed", "succeeded"):
        if (status.get(name) or 0) < (before.get(name) or 0):
            detail = f"cannot decrease the {name} counter"
            errors.append(invalid(f"status.{name}", status.get(name) or 0, detail))
    return errors


def _true(status: dict[str, Any]) -> set[str]:
    return {
        each.get("type") or ""
        for each in status.get("conditions") or ()
        if each.get("status") == "True"
    }


def _uncounted(uncounted: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for name in ("succeeded", "failed"):
        for position, uid in enumerate(uncounted.get(name) or ()):
            at = f"status.uncountedTerminatedPods.{name}[{position}]"
            if not uid:
                errors.append(invalid(at, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(at, uid))
            seen.add(uid)
    return errors


def _conditions(true: set[str], was: set[str]) -> list[FieldError]:
    said = [
        f"cannot set {one}=True and {other}=true conditions"
        for one, other in _EXCLUSIVE
        if {one, other} <= true
    ]
    said += [
        f"cannot set {one}=True condition without the {other}=true condition"
        for one, other in _NEEDED
        if one in true and other not in true
    ]
    said += [
        f"cannot disable the {word}{name}=True condition"
        for name, word in _LASTING.items()
        if name in was and name not in true
    ]
    return [invalid(_PATH, UNSHOWN, each) for each in said]


def _times(
    status: dict[str, Any], before: dict[str, Any], true: set[str], spec: dict[str, Any]
) -> list[FieldError]:
    done, started = status.get("completionTime"), status.get("startTime")
    at = "status.completionTime"
    errors: list[FieldError] = []
    if done is not None and "Complete" not in true:
        detail = "cannot set completionTime when there is no Complete=True condition"
        errors.append(invalid(at, done, detail))
    if done is None and "Complete" in true:
        errors.append(required(at, "completionTime is required for Complete jobs"))
    if done is not None and started is not None and done < started:
        errors.append(invalid(at, done, "must be equal to or after `startTime`"))
    if done is not None and before.get("completionTime") not in {None, done}:
        errors.append(invalid(at, done, "field is immutable"))
    was = before.get("startTime")
    if was is not None and was != started and not spec.get("suspend"):
        detail = "field is immutable for unsuspended job once set"
        errors.append(invalid("status.startTime", started, detail))
    return errors


def _finished(status: dict[str, Any], true: set[str]) -> list[FieldError]:
    if not true & {"Complete", "Failed"}:
        return []
    errors: list[FieldError] = []
    for name in ("active", "terminating"):
        if (status.get(name) or 0) > 0:
            detail = f"{name}>0 is invalid for finished job"
            errors.append(invalid(f"status.{name}", status[name], detail))
    if status.get("startTime") is None:
        errors.append(required("status.startTime", "startTime is required for finished job"))
    return errors


def _indexes(status: dict[str, Any], spec: dict[str, Any]) -> list[FieldError]:
    completed, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    errors: list[FieldError] = []
    if completed and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid("status.completedIndexes", completed, detail))
    if failed is not None and spec.get("backoffLimitPerIndex") is None:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(invalid("status.failedIndexes", failed, detail))
    return errors
