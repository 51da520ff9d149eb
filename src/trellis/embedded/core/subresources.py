# SPDX-License-Identifier: Apache-2.0
"""What is asked for beside an object: its scale, its node, its eviction, a token, a review.

Each takes the call and answers it. Statuses and the like are no such thing: they are another way to
write the object itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core import binding, eviction, reviews, scaling
from trellis.embedded.exchange import Answer

if TYPE_CHECKING:
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World

Handler = Callable[["World", "Call", "Bodies", "Presenter"], Awaitable[Answer]]

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


async def log(world: World, call: Call, _bodies: Bodies, _present: Presenter) -> Answer:
    """Simulated containers print nothing; those of a pod without a node are not there at all."""
    if not _node_of(world, call):
        return Answer(204, b"")
    return Answer(200, b"", (("Content-Type", "text/plain"),))


async def not_simulated(world: World, call: Call, _bodies: Bodies, _present: Presenter) -> Answer:
    if call.served.plural == "pods" and not _node_of(world, call):
        why = f"pod {call.name} does not have a host assigned"
        raise refusals.Refusal(400, "BadRequest", why)
    why = f"{call.subresource} needs a container that runs; this cluster simulates its nodes"
    raise refusals.Refusal(501, "NotImplemented", why)


def _node_of(world: World, call: Call) -> str:
    pod = world.shelf(call.served).get(call.namespace, call.name)
    if pod is None:
        raise refusals.not_found(call.served.group, call.served.plural, call.name)
    return pod.field("spec.nodeName")


SUBRESOURCES: dict[tuple[str, str, str], Handler] = {
    ("*", "*", "scale"): scaling.scale,
    ("", "pods", "binding"): binding.bind,
    ("", "bindings", ""): binding.bind,
    ("", "pods", "eviction"): eviction.evict,
    ("", "pods", "log"): log,
    ("", "serviceaccounts", "token"): reviews.token,
    (_AUTHENTICATION, "tokenreviews", ""): reviews.token_review,
    (_AUTHENTICATION, "selfsubjectreviews", ""): reviews.self_review,
    (_AUTHORIZATION, "subjectaccessreviews", ""): reviews.access_review,
    (_AUTHORIZATION, "localsubjectaccessreviews", ""): reviews.local_access_review,
    (_AUTHORIZATION, "selfsubjectaccessreviews", ""): reviews.self_access_review,
    (_AUTHORIZATION, "selfsubjectrulesreviews", ""): reviews.self_rules_review,
    **{
        ("", kind, name): not_simulated
        for kind in ("pods", "services", "nodes")
        for name in ("exec", "attach", "portforward", "proxy")
    },
}
