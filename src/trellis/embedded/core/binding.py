# SPDX-License-Identifier: Apache-2.0
"""A pod gets its node: POST to its `binding`, or to `bindings`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core.bodies import kind_served
from trellis.embedded.core.writing import admit, manager_of, place, retried, review_of
from trellis.embedded.fields import updated
from trellis.embedded.natives.pod.binding import bind as bound
from trellis.embedded.natives.pod.binding import check_binding
from trellis.embedded.wire.options import write_options

if TYPE_CHECKING:
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer

SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    options = write_options(call.ask, "CreateOptions")
    body = bodies.subobject(call, options)
    place(call, body)
    name = call.name or body["metadata"].get("name", "")
    shown = kind_served(call)
    updated(body, None, shown, manager_of(world, call, options, shown))
    await admit(world, review_of(call, options, body, None, name))
    check_binding(body, name)
    pods = world.registry.natives["", "v1", "pods"]

    async def once() -> None:
        record = world.shelf(pods).get(call.namespace, name)
        if record is None:
            raise refusals.not_found("", "pods", name)
        pod = bound(record.decoded(), body, world.now())
        if not options.dry_run:
            world.put(pods, pod, record.version)

    await retried(call, once)
    return present.said(call, SUCCESS, status=201)
