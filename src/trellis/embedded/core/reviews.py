# SPDX-License-Identifier: Apache-2.0
"""Questions about who is who and who may do what; they are answered and not kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trellis.embedded.core.bodies import kind_served
from trellis.embedded.core.writing import admit, manager_of, place, review_of
from trellis.embedded.fields import updated
from trellis.embedded.wire.options import write_options

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer

_HOUR = 3600
_Said = Callable[["World", "Call", "Object"], "Object"]
_Verb = Callable[["World", "Call", "Bodies", "Presenter"], Awaitable["Answer"]]


def _asked(answer: _Said, prepare: _Said = lambda world, call, body: body) -> _Verb:  # noqa: ARG005 - as a _Said has it
    async def review(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
        options = write_options(call.ask, "CreateOptions")
        body = bodies.subobject(call, options)
        place(call, body)
        if body["kind"] == "TokenRequest":
            # The default of the type itself: who asks owns it.
            body.setdefault("spec", {}).setdefault("expirationSeconds", _HOUR)
        updated(body, None, kind_served(call), manager_of(world, call, options, kind_served(call)))
        body = prepare(world, call, body)
        admitted = await admit(world, review_of(call, options, body, None))
        return present.said(call, answer(world, call, admitted.new or body), status=201)

    return review


def _self(world: World, call: Call, body: Object) -> Object:
    found = world.access.review_self(call.user)
    return {**found, "metadata": {**body["metadata"], **found["metadata"]}}


token = _asked(
    lambda world, call, body: world.access.issue_token(body, call.namespace, call.name),
    lambda world, call, body: world.access.prepare_token_request(body, call.namespace, call.name),
)
token_review = _asked(lambda world, _, body: world.access.review_token(body))
self_review = _asked(_self)
access_review = _asked(lambda world, _, body: world.access.review_access(body))
local_access_review = _asked(
    lambda world, call, body: world.access.review_local_access(body, call.namespace)
)
self_access_review = _asked(
    lambda world, call, body: world.access.review_self_access(body, call.user)
)
self_rules_review = _asked(
    lambda world, call, body: world.access.review_self_rules(body, call.user)
)
