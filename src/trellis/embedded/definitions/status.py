# SPDX-License-Identifier: Apache-2.0
"""What becomes of a definition after it was written: names accepted or not, established, gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trellis.embedded.conditions import set_condition
from trellis.embedded.copying import copied
from trellis.embedded.definitions.approval import approval_condition
from trellis.embedded.definitions.served import is_true

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.asking import Object

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that holds a deleted definition until its objects are gone."""
_NAMES: Final = (
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
)
_KINDS: Final = frozenset({"kind", "listKind"})
_ESTABLISHED: Final = {
    "type": "Established",
    "status": "True",
    "reason": "InitialNamesAccepted",
    "message": "the initial names have been accepted",
}
_NOT_ESTABLISHED: Final = {
    "type": "Established",
    "status": "False",
    "reason": "NotAccepted",
    "message": "not all names are accepted",
}
_TERMINATING: Final = {
    "pending": (
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    ),
    "progress": ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
    "done": ("False", "InstanceDeletionCompleted", "removed all instances"),
    "never": ("False", "NeverEstablished", "resource was never established"),
}


def next_status(crd: Object, others: Iterable[Object], now: str) -> Object | None:
    """The status that follows, given the other definitions of the group; None if it is this one."""
    status: Object = copied(crd["status"])
    accepted, naming = _accepted(crd, others)
    established = is_true(crd, "Established")
    status["acceptedNames"] = accepted
    set_condition(status, naming, now)
    if not established:
        fits = naming["status"] == "True"
        set_condition(status, _ESTABLISHED if fits else _NOT_ESTABLISHED, now)
    approval = approval_condition(crd)
    if approval is not None:
        set_condition(status, approval, now)
    return None if status == crd["status"] else status


def terminating(crd: Object, now: str, *, waiting: bool | None) -> Object:
    """The status of a definition on its way out.

    `waiting` is None when it was only just deleted, then whether objects of it are still there.
    """
    step = "pending" if waiting is None else "progress" if waiting else "done"
    if waiting is not None and not is_true(crd, "Established"):
        step = "never"
    state, reason, message = _TERMINATING[step]
    status: Object = copied(crd["status"])
    condition = {"type": "Terminating", "status": state, "reason": reason, "message": message}
    set_condition(status, condition, now)
    return status


def _accepted(crd: Object, others: Iterable[Object]) -> tuple[Object, dict[str, str]]:
    """The names it has now, and the condition about them. A name another has is not taken over."""
    wanted, had = crd["spec"]["names"], crd["status"].get("acceptedNames") or {}
    resources, kinds = _taken(others)
    accepted: Object = {"plural": "", "kind": "", **had}
    condition = {"reason": "NoConflicts", "message": "no conflicts found", "status": "True"}
    for name, reason in _NAMES:
        taken = kinds if name in _KINDS else resources
        conflicts = _conflicts(wanted.get(name), had.get(name), taken)
        if conflicts:
            said = ", ".join(conflicts)
            message = f"[{said}]" if len(conflicts) > 1 else said
            condition = {"reason": reason, "message": message, "status": "False"}
        else:
            _put(accepted, name, wanted.get(name))
    _put(accepted, "categories", wanted.get("categories"))
    return accepted, {"type": "NamesAccepted", **condition}


def _put(names: Object, name: str, value: Any) -> None:
    if value:
        names[name] = value
    elif name not in ("plural", "kind"):
        names.pop(name, None)


def _taken(others: Iterable[Object]) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        names = other["status"].get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", "")}
        resources |= set(names.get("shortNames") or ())
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _conflicts(wanted: Any, had: Any, taken: set[str]) -> list[str]:
    if isinstance(wanted, list):
        fresh = [name for name in wanted if name not in (had or ())]
    else:
        fresh = [wanted] if wanted and wanted != had else []
    return [f'"{name}" is already in use' for name in fresh if name in taken]
