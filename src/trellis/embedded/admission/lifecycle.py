# SPDX-License-Identifier: Apache-2.0
"""Nothing is made in a namespace that is not there or is going. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.refusals import Refusal, forbidden, not_found

if TYPE_CHECKING:
    from trellis.embedded.admission.selection import NamespaceOf
    from trellis.embedded.asking import Review

_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_CHECKED = frozenset({"CREATE", "UPDATE", "DELETE"})


def check(review: Review, namespace_of: NamespaceOf) -> None:
    served, operation = review.served, review.operation
    if served.plural == "namespaces" and not served.group:
        if operation == "DELETE" and review.name in _IMMORTAL:
            raise forbidden("", "namespaces", review.name, "this namespace may not be deleted")
        return
    if not review.namespace or operation == "DELETE" or operation not in _CHECKED:
        return
    if served.plural == "localsubjectaccessreviews":
        return  # to say whether the namespace is there would tell too much
    namespace = namespace_of(review.namespace)
    if namespace is None:
        raise not_found("", "namespaces", review.namespace)
    going = (namespace.get("status") or {}).get("phase") == "Terminating"
    if operation == "CREATE" and going:
        raise _terminating(review)


def _terminating(review: Review) -> Refusal:
    name, served = review.namespace, review.served
    why = f"unable to create new content in namespace {name} because it is being terminated"
    refusal = forbidden(served.group, served.plural, refused_name(review), why)
    assert refusal.details is not None  # noqa: S101 - a resource is always named
    refusal.details["causes"] = [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {name} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    return refusal


def refused_name(review: Review) -> str:
    """What a refusal by admission calls an object that may have no name yet."""
    if review.name:
        return review.name
    metadata = (review.new or {}).get("metadata") or {}
    return metadata.get("name") or metadata.get("generateName") or "Unknown"
