# SPDX-License-Identifier: Apache-2.0
"""The objects that a policy takes as parameters, as its binding names or selects them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.admission.selection import compiled, labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.embedded.access.reading import Reader
    from trellis.embedded.admission.policies import Binding, Policy
    from trellis.embedded.admission.surroundings import Surroundings
    from trellis.embedded.asking import Object, Review
    from trellis.embedded.served import Served


class Unconfigured(Exception):
    """The parameters cannot be had; the message says why."""


def parameters(
    policy: Policy, binding: Binding, review: Review, about: Surroundings
) -> Sequence[Object | None]:
    """The policy is evaluated once with each. [None] where there are none to have."""
    kind, reference = policy.parameter_kind, binding.parameters
    if kind is None or reference is None:
        return [None]
    group, _, version = kind["apiVersion"].rpartition("/")
    served = about.catalogue.of_kind(group, kind["kind"], version)
    if served is None:
        raise Unconfigured(f"paramKind kind `{kind['apiVersion']}, Kind={kind['kind']}` not known")
    where = _namespace(served, reference, review)
    found = _found(served, reference, where, about.reader)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        said = "no params found for policy binding with `Deny` parameterNotFoundAction"
        raise Unconfigured(said)
    return found


def _namespace(served: Served, reference: Mapping[str, Any], review: Review) -> str:
    named = reference.get("namespace") or ""
    if not served.namespaced:
        if named:
            said = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            raise Unconfigured(said)
        return ""
    where: str = named or review.namespace
    if not where:
        said = "cannot use namespaced paramRef in policy binding that matches cluster-scoped"
        raise Unconfigured(f"{said} resources")
    return where


def _found(
    served: Served, reference: Mapping[str, Any], where: str, reader: Reader
) -> list[Object]:
    if reference.get("name"):
        one = reader.get(served.group, served.plural, where, reference["name"])
        return [] if one is None else [one]
    selects = compiled(reference.get("selector"))
    listed = reader.list(served.group, served.plural, where)
    return [each for each in listed if selects is None or selects(labels(each))]
