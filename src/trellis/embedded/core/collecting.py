# SPDX-License-Identifier: Apache-2.0
"""A whole collection, or what a selector picks of it, deleted one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core import deleting, reading
from trellis.embedded.wire.options import list_options

if TYPE_CHECKING:
    from trellis.embedded.core.reading import Page
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.wire.options import DeleteOptions


async def delete_collection(world: World, call: Call, options: DeleteOptions) -> Page:
    """The objects as they were before; one that somebody else deletes meanwhile is no failure."""
    page = await reading.page(world, call, list_options(call.ask, call.served))
    for record in page.records:
        one = replace(call, namespace=record.namespace, name=record.name)
        try:
            await deleting.delete(world, one, deleting.Deletion(options=options, shown=""))
        except refusals.Refusal as refusal:
            if refusal.reason != "NotFound":
                raise
    return page
