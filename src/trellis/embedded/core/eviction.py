# SPDX-License-Identifier: Apache-2.0
"""A pod is asked to leave, and its disruption budget is asked first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core import deleting
from trellis.embedded.core.binding import SUCCESS
from trellis.embedded.core.writing import admit, place, review_of
from trellis.embedded.natives.pod.eviction import check_eviction, delete_options
from trellis.embedded.natives.pod.eviction import evict as decided
from trellis.embedded.wire import options as wired

if TYPE_CHECKING:
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer


async def evict(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    options = wired.write_options(call.ask, "CreateOptions")
    body = bodies.subobject(call, options)
    place(call, body)
    check_eviction(body, call.name)
    await admit(world, review_of(call, options, body, None))
    record = world.shelf(call.served).get(call.namespace, call.name)
    if record is None:
        raise refusals.not_found("", "pods", call.name)
    said = delete_options(body, ["All"] if options.dry_run else [])
    deletion = wired.delete_options(call.ask, said)
    budgets = world.registry.natives["policy", "v1", "poddisruptionbudgets"]
    there = world.shelf(budgets).list(call.namespace)
    decision = decided(record.decoded(), [each.decoded() for each in there], said, world.now())
    if not decision.dry_run:
        if decision.budget is not None:
            counted = decision.budget
            world.put(budgets, counted, int(counted["metadata"]["resourceVersion"]))
        if decision.pod != record.decoded():
            record = world.put(call.served, decision.pod, record.version)
        if deletion.resource_version is not None:
            deletion = replace(deletion, resource_version=str(record.version))
    # Admission was asked about the eviction; of the deletion that follows it hears nothing.
    wanted = deleting.Deletion(options=deletion, shown=None)
    await deleting.delete(world, replace(call, subresource="", verb="delete"), wanted)
    return present.said(call, SUCCESS, status=201)
