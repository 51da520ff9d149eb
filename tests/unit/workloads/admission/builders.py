# SPDX-License-Identifier: Apache-2.0
"""Reviews as the API server sends them, and what handlers make of them."""

from __future__ import annotations

from typing import Any

import msgspec

from trellis.api.meta import Resource
from trellis.webhooks.review import Review
from trellis.webhooks.verdict import Allowed, Denied, Verdict
from trellis.workloads.admission.podcliqueset import defaulting, validating
from trellis.workloads.admission.policy import Policy

SETS = Resource("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets")
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

Json = dict[str, Any]


def a_review(
    operation: str,
    new: Any = None,
    old: Any = None,
    *,
    resource: Resource = SETS,
    **more: Any,
) -> Review:
    request = {
        "uid": "review",
        "operation": operation,
        "kind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "resource": {
            "group": resource.group,
            "version": resource.version,
            "resource": resource.plural,
        },
        "namespace": "default",
        "userInfo": {"username": "ann"},
        "object": new,
        "oldObject": old,
        **more,
    }
    return msgspec.json.decode(msgspec.json.encode(request), type=Review)


def defaulted(new: Json, old: Json | None = None) -> Json:
    """What is stored of a set once its defaults are filled in."""
    verdict = defaulting(a_review("UPDATE" if old else "CREATE", new, old))
    assert isinstance(verdict, Allowed)
    found: Json = new if verdict.object is None else verdict.object
    return msgspec.json.decode(msgspec.json.encode(found))  # type: ignore[no-any-return]


def judged(new: Json, old: Json | None = None, policy: Policy | None = None) -> Verdict:
    """Both reviews, one after the other, as the API server has them."""
    handle = validating(policy or Policy())
    whole = defaulted(new, old)
    return handle(a_review("UPDATE" if old else "CREATE", whole, old))


def causes(verdict: Verdict) -> list[tuple[str, str]]:
    if not isinstance(verdict, Denied):
        return []
    assert (verdict.code, verdict.reason) == (422, "Invalid")
    return [(cause.field, cause.message) for cause in verdict.causes]


def fields(verdict: Verdict) -> list[str]:
    return [field for field, _ in causes(verdict)]
