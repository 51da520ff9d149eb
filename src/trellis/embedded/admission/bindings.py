# SPDX-License-Identifier: Apache-2.0
"""The variables of an expression in admission: objects, request, caller's permissions. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.access.accounts import groups, user_name
from trellis.embedded.admission.requests import converted, namespace, request
from trellis.embedded.asking import AUTHENTICATED, Attributes, User

if TYPE_CHECKING:
    from trellis.embedded.admission.surroundings import Authorize
    from trellis.embedded.asking import Object, Review
    from trellis.embedded.served import Served

_NAMESPACE = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("labels", "annotations", "finalizers"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as an expression is to see it: in the version that rules matched."""

    review: Review
    target: Served
    authorize: Authorize


def bindings(asked: Asked) -> dict[str, Any]:
    review, target = asked.review, asked.target
    caller = _caller(asked)
    return {
        "object": converted(review.new, review, target),
        "oldObject": converted(review.old, review, target),
        "request": request(review, target),
        "namespaceObject": None,
        "authorizer": caller,
        "authorizer.requestResource": _requested(asked, caller),
    }


def namespace_object(stored: Object | None) -> Object | None:
    """A namespace as expressions see it."""
    if stored is None:
        return None
    metadata = {
        field: stored["metadata"][field] for field in _NAMESPACE if field in stored["metadata"]
    }
    rest: Object = {field: stored[field] for field in ("spec", "status") if field in stored}
    return {"metadata": metadata, **rest}


def _caller(asked: Asked) -> cel.Authorizer:
    """What `authorizer` may ask: the permissions of whoever makes the request, or of another."""

    def decide(query: cel.Query) -> cel.Decision:
        user = asked.review.user
        if query.service_account:
            where, name = query.service_account
            user = User(name=user_name(where, name), groups=(*groups(where), AUTHENTICATED))
        wanted = Attributes(
            user=user,
            verb=query.verb,
            group=query.group,
            resource=query.resource,
            subresource=query.subresource,
            namespace=query.namespace,
            name=query.name,
            path=query.path,
        )
        return cel.Decision(*asked.authorize(wanted))

    return cel.Authorizer(decide)


def _requested(asked: Asked, caller: cel.Authorizer) -> cel.ResourceCheck:
    """The resource of the request itself."""
    review, served = asked.review, asked.review.served
    query = cel.Query(
        group=served.group,
        resource=served.plural,
        subresource=review.subresource,
        namespace=namespace(review),
        name=review.name,
    )
    return cel.ResourceCheck(caller.decide, query)
