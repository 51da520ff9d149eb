# SPDX-License-Identifier: Apache-2.0
"""Questions about who is who and who may do what; they are answered and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.asking import Review
from trellis.embedded.core.bodies import kind_served
from trellis.embedded.core.writing import manager_of, place
from trellis.embedded.fields import updated
from trellis.embedded.wire.options import write_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer

_HOUR = 3600


async def token(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    def prepared(body: Object) -> Object:
        return world.access.prepare_token_request(body, call.namespace, call.name)

    def issued(body: Object) -> Object:
        return world.access.issue_token(body, call.namespace, call.name)

    return await _reviewed(world, call, bodies, present, issued, prepared)


async def token_review(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    return await _reviewed(world, call, bodies, present, world.access.review_token)


async def self_review(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    def review(body: Object) -> Object:
        found = world.access.review_self(call.user)
        return {**found, "metadata": {**body["metadata"], **found["metadata"]}}

    return await _reviewed(world, call, bodies, present, review)


async def access_review(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    return await _reviewed(world, call, bodies, present, world.access.review_access)


async def local_access_review(
    world: World, call: Call, bodies: Bodies, present: Presenter
) -> Answer:
    def review(body: Object) -> Object:
        return world.access.review_local_access(body, call.namespace)

    return await _reviewed(world, call, bodies, present, review)


async def self_access_review(
    world: World, call: Call, bodies: Bodies, present: Presenter
) -> Answer:
    def review(body: Object) -> Object:
        return world.access.review_self_access(body, call.user)

    return await _reviewed(world, call, bodies, present, review)


async def self_rules_review(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    def review(body: Object) -> Object:
        return world.access.review_self_rules(body, call.user)

    return await _reviewed(world, call, bodies, present, review)


async def _reviewed(  # noqa: PLR0913, PLR0917
    world: World,
    call: Call,
    bodies: Bodies,
    present: Presenter,
    answer: Callable[[Object], Object],
    prepare: Callable[[Object], Object] = lambda body: body,
) -> Answer:
    options = write_options(call.ask, "CreateOptions")
    body = bodies.subobject(call, options)
    place(call, body)
    if body["kind"] == "TokenRequest":
        # The default of the type itself: who asks owns it.
        body.setdefault("spec", {}).setdefault("expirationSeconds", _HOUR)
    updated(body, None, kind_served(call), manager_of(world, call, options, kind_served(call)))
    body = prepare(body)
    review = Review(
        user=call.user,
        served=call.served,
        subresource=call.subresource,
        operation="CREATE",
        namespace=call.namespace,
        name=call.name,
        new=body,
        old=None,
        options=options.spoken("CreateOptions"),
        dry_run=options.dry_run,
        warnings=call.warnings,
    )
    await world.admission.mutate(review)
    await world.admission.validate(review)
    return present.said(call, answer(review.new or body), status=201)
