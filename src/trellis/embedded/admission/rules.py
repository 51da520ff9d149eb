# SPDX-License-Identifier: Apache-2.0
"""Which requests a rule of a webhook or policy is about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trellis.embedded.asking import Review
    from trellis.embedded.served import Served

    Rule = Mapping[str, Any]

ALL = "*"
_GROUP = "admissionregistration.k8s.io"
_EXEMPT = frozenset(
    {
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    }
)


def exempt(served: Served) -> bool:
    """What configures admission is out of its reach, or a bad rule could never be taken back."""
    return served.group == _GROUP and served.plural in _EXEMPT


@dataclass(frozen=True, slots=True)
class Question:
    """What rules look at. Requests that ask the same are matched once."""

    group: str
    version: str
    plural: str
    subresource: str
    operation: str
    namespaced: bool

    @classmethod
    def of(cls, review: Review) -> Question:
        served = review.served
        # A namespace is in itself, and still is no object of a namespace.
        namespaced = bool(review.namespace) and not (
            served.plural == "namespaces" and not served.group
        )
        return cls(
            served.group,
            served.version,
            served.plural,
            review.subresource,
            review.operation,
            namespaced,
        )


def matches(rule: Rule, asked: Question, version: str = "") -> bool:
    """`version` in place of the one that is asked for: equivalents are tried so."""
    return (
        _scope(rule, asked)
        and _has(rule.get("operations"), asked.operation)
        and _has(rule.get("apiGroups"), asked.group)
        and _has(rule.get("apiVersions"), version or asked.version)
        and any(_resource(each, asked) for each in rule.get("resources") or ())
    )


def target(
    rules: Sequence[Rule], asked: Question, served: Served, equivalents: Iterable[Served]
) -> Served | None:
    """The version in which rules want the object: as it is, or the first equivalent that fits."""
    if any(matches(rule, asked) for rule in rules):
        return served
    others = [each for each in equivalents if each.version != served.version]
    for rule in rules:
        for other in others:
            if matches(rule, asked, other.version):
                return other
    return None


def named(rule: Rule, name: str) -> bool:
    """A policy's rule may be for some names only."""
    names = rule.get("resourceNames")
    return not names or name in names


def _scope(rule: Rule, asked: Question) -> bool:
    scope = rule.get("scope") or ALL
    return scope == ALL or (scope == "Namespaced") == asked.namespaced


def _has(allowed: Sequence[str] | None, wanted: str) -> bool:
    return allowed is not None and (wanted in allowed or ALL in allowed)


def _resource(pattern: str, asked: Question) -> bool:
    resource, _, subresource = pattern.partition("/")
    return resource in (ALL, asked.plural) and subresource in (ALL, asked.subresource)
