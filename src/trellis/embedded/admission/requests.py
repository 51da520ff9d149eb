# SPDX-License-Identifier: Apache-2.0
"""The request of an AdmissionReview, as webhooks are sent it and expressions see it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded.access import user_info

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review
    from trellis.embedded.served import Served

GROUP = "admission.k8s.io"
_ENCODER = msgspec.json.Encoder()


def request(review: Review, target: Served) -> Object:
    """All but the uid and the objects. `target` is the version that the rules matched."""
    found: Object = {
        "kind": _kind(review, target),
        "resource": _resource(target),
        "subResource": review.subresource,
        "requestKind": _kind(review, review.served),
        "requestResource": _resource(review.served),
        "requestSubResource": review.subresource,
        "name": review.name,
        "namespace": namespace(review),
        "operation": review.operation,
    }
    found = {field: value for field, value in found.items() if value}
    found["userInfo"] = user_info(review.user)
    found["dryRun"] = review.dry_run
    found["options"] = review.options
    return found


def body(review: Review, target: Served, uid: str, version: str) -> bytes:
    """A whole AdmissionReview."""
    asked = {
        "uid": uid,
        **request(review, target),
        "object": converted(review.new, review, target),
        "oldObject": converted(review.old, review, target),
    }
    about = {"kind": "AdmissionReview", "apiVersion": f"{GROUP}/{version}"}
    return _ENCODER.encode({**about, "request": asked})


def namespace(review: Review) -> str:
    """A namespace counts as being in itself."""
    served = review.served
    if not review.namespace and served.plural == "namespaces" and not served.group:
        return review.name
    return review.namespace


def converted(item: Object | None, review: Review, target: Served) -> Object | None:
    """An object in the version that is wanted. All versions of a custom kind have one form."""
    if item is None or target.version == review.served.version or review.subresource == "scale":
        return item
    return {**item, "apiVersion": target.api_version}


def _kind(review: Review, served: Served) -> Object:
    """Of the resource, or of what is sent to a subresource: an Eviction, a Scale."""
    item = review.new if review.new is not None else review.old
    kind, api_version = served.kind, served.api_version
    if review.subresource and item and item.get("kind") and item["kind"] != served.kind:
        kind, api_version = item["kind"], item.get("apiVersion") or api_version
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version, "kind": kind}


def _resource(served: Served) -> dict[str, Any]:
    return {"group": served.group, "version": served.version, "resource": served.plural}
