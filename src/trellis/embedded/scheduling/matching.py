# SPDX-License-Identifier: Apache-2.0
"""Which nodes a selector means, and which taints a toleration bears. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trellis.embedded.scheduling.pods import (
        NodeRequirement,
        NodeSelector,
        NodeTerm,
        Toleration,
    )

    Labels = Mapping[str, str]
    NodeMatcher = Callable[[str, Labels], bool]
    """Of a node by its name and its labels."""

# What keeps new pods away; the other effect only makes a node less welcome.
_HARD = ("NoSchedule", "NoExecute")
SOFT = "PreferNoSchedule"


class Tainted(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


def node_matcher(selector: NodeSelector) -> NodeMatcher:
    terms = [term_matcher(term) for term in selector.node_selector_terms]
    if len(terms) == 1:
        return terms[0]
    return lambda name, labels: any(term(name, labels) for term in terms)


def term_matcher(term: NodeTerm) -> NodeMatcher:
    if not term.match_expressions and not term.match_fields:
        return lambda _name, _labels: False
    on_labels = [(one.key, _test(one)) for one in term.match_expressions]
    on_name = [_test(one) for one in term.match_fields]

    def matches(name: str, labels: Labels) -> bool:
        return all(test(labels.get(key)) for key, test in on_labels) and all(
            test(name) for test in on_name
        )

    return matches


def names_meant(selector: NodeSelector) -> frozenset[str] | None:
    """The nodes that the selector names one by one, or None if it does not."""
    names: set[str] = set()
    for term in selector.node_selector_terms:
        named = [
            set(one.values)
            for one in term.match_fields
            if one.key == "metadata.name" and one.operator == "In"
        ]
        if not named:
            return None
        names |= set.intersection(*named)
    return frozenset(names)


def _test(requirement: NodeRequirement) -> Callable[[str | None], bool]:
    values = frozenset(requirement.values)
    match requirement.operator:
        case "In":
            return lambda value: value in values
        case "NotIn":
            return lambda value: value not in values
        case "Exists":
            return lambda value: value is not None
        case "DoesNotExist":
            return lambda value: value is None
        case "Gt" | "Lt" as operator:
            bound = _number(next(iter(requirement.values), None))
            return lambda value: _compares(operator, _number(value), bound)
    return lambda _: False


def _compares(operator: str, value: int | None, bound: int | None) -> bool:
    if value is None or bound is None:
        return False
    return value > bound if operator == "Gt" else value < bound


def _number(text: str | None) -> int | None:
    digits = (text or "").removeprefix("-").removeprefix("+")
    return int(text or "") if digits.isascii() and digits.isdigit() else None


def tolerates(toleration: Toleration, taint: Tainted) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt" as operator:
            return _compares(operator, _number(taint.value), _number(toleration.value))
    return False


def untolerated(taints: Iterable[Tainted], tolerations: Sequence[Toleration]) -> bool:
    """Whether one of the taints keeps away whoever has no more than these tolerations."""
    return any(
        taint.effect in _HARD and not any(tolerates(one, taint) for one in tolerations)
        for taint in taints
    )


def unwelcome(taints: Iterable[Tainted], tolerations: Sequence[Toleration]) -> int:
    """How many of the taints would rather keep it away."""
    return sum(
        taint.effect == SOFT and not any(tolerates(one, taint) for one in tolerations)
        for taint in taints
    )
