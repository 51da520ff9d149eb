# SPDX-License-Identifier: Apache-2.0
"""A pod gets its node: POST to its `binding`, or to `bindings`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.asking import Review
from trellis.embedded.core.bodies import kind_served
from trellis.embedded.core.writing import manager_of, place
from trellis.embedded.fields import updated
from trellis.embedded.natives.pod.binding import bind as bound
from trellis.embedded.natives.pod.binding import check_binding
from trellis.embedded.store.problems import Stale
from trellis.embedded.wire.options import write_options

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer
    from trellis.embedded.wire.options import WriteOptions

SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    options = write_options(call.ask, "CreateOptions")
    body = bodies.subobject(call, options)
    place(call, body)
    name = call.name or body["metadata"].get("name", "")
    shown = kind_served(call)
    updated(body, None, shown, manager_of(world, call, options, shown))
    await admitted(world, replace(call, name=name), body, options)
    check_binding(body, name)
    pods = world.registry.natives["", "v1", "pods"]
    while True:
        record = world.shelf(pods).get(call.namespace, name)
        if record is None:
            raise refusals.not_found("", "pods", name)
        pod = bound(record.decoded(), body, world.now())
        if options.dry_run:
            break
        try:
            world.put(pods, pod, record.version)
            break
        except Stale:
            continue
    return present.said(call, SUCCESS, status=201)


async def admitted(world: World, call: Call, body: Object, options: WriteOptions) -> None:
    """Admission sees what was sent, not the pod."""
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
