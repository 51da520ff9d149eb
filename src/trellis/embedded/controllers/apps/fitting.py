# SPDX-License-Identifier: Apache-2.0
"""Whether a pod of a template may run on a node: selector, required affinity, taints. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.embedded.controllers.kinds import Json, Node


def chooses(spec: Json, node: Node) -> bool:
    """Whether the node selector and the required affinity of a pod allow the node."""
    labels = node.metadata.labels
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term(term, node) for term in required["nodeSelectorTerms"])


def tolerates(tolerations: Iterable[Json], node: Node, effects: Iterable[str]) -> bool:
    """Whether every taint of these effects is tolerated."""
    allowed = list(tolerations)
    taints = (taint for taint in node.spec.taints if taint["effect"] in effects)
    return all(any(_covers(one, taint) for one in allowed) for taint in taints)


def _term(term: Json, node: Node) -> bool:
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = {"metadata.name": node.metadata.name}
    return all(_holds(one, node.metadata.labels) for one in expressions) and all(
        _holds(one, named) for one in fields
    )


def _holds(requirement: Json, labels: Mapping[str, str]) -> bool:
    found = labels.get(requirement["key"])
    values: list[str] = requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case operator:
            return _compares(operator, found, *values[:1])


def _compares(operator: str, found: str | None, bound: str = "") -> bool:
    try:
        number, limit = int(found or ""), int(bound)
    except ValueError:
        return False
    return number > limit if operator == "Gt" else number < limit


def _covers(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in {None, "", taint["effect"]}:
        return False
    if toleration.get("key") not in {None, "", taint["key"]}:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")
