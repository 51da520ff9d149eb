# SPDX-License-Identifier: Apache-2.0
"""Patches of all four kinds: what is stored and a patch make the object that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core.bodies import Made, kind_served
from trellis.embedded.core.updating import Change, Changed, update
from trellis.embedded.core.writing import manager_of
from trellis.embedded.fields import applied
from trellis.embedded.patches import Decoded, decode_patch, json_patch, merge_patch, strategic
from trellis.embedded.wire.options import patch_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.wire.options import WriteOptions

JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
_FORMS = {JSON: "json", MERGE: "merge", STRATEGIC: "strategic", APPLY: "apply"}


async def patch(world: World, call: Call, bodies: Bodies) -> Changed:
    kind = media_type(call)
    options = patch_options(call.ask, apply=kind == APPLY)
    return await update(world, call, change(world, call, bodies, kind, options))


def change(world: World, call: Call, bodies: Bodies, kind: str, options: WriteOptions) -> Change:
    """What the patch does to whatever is stored."""
    decoded = decode_patch(call.ask.body, _FORMS[kind], options.field_validation)
    if kind == APPLY:
        return _apply(world, call, bodies, decoded, options)
    return _edit(call, bodies, kind, decoded, options)


def accepted(call: Call) -> tuple[str, ...]:
    """Custom resources have no strategy to merge by."""
    return (JSON, MERGE, APPLY) if call.served.custom else (JSON, MERGE, STRATEGIC, APPLY)


def media_type(call: Call) -> str:
    said = call.ask.headers.get("content-type", "").split(";")[0].strip()
    if said in accepted(call):
        return said
    if call.served.custom:
        raise refusals.unsupported_media_type(said or "none", accepted(call))
    raise refusals.Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def _edit(call: Call, bodies: Bodies, kind: str, patch: Decoded, options: WriteOptions) -> Change:
    edits: dict[str, Callable[[Object], Object]] = {
        JSON: lambda old: json_patch(old, patch.value),
        MERGE: lambda old: merge_patch(old, patch.value),
        STRATEGIC: lambda old: strategic(old, patch.value, call.served.schema),
    }

    native = None if call.served.custom else call.served.schema

    def to(old: Object | None) -> Object:
        if old is None:
            raise refusals.not_found(call.served.group, call.served.plural, call.name)
        made = Made(_FORMS[kind], edits[kind](old), patch, native)
        return bodies.patched(call, made, options)

    return Change(to=to, options=options)


def _apply(
    world: World, call: Call, bodies: Bodies, patch: Decoded, options: WriteOptions
) -> Change:
    force = options.force is True
    config: Object = patch.value
    served = kind_served(call) if call.subresource == "scale" else call.served

    def to(old: Object | None) -> Object:
        manager = manager_of(world, call, options, served, apply=True)
        merged = applied(old, config, served, manager, force=force)
        if served is not call.served and call.served.custom and force:
            where = f"{call.namespace}/{call.name}; autoscaling/v1, Kind=Scale"
            why = "request to convert CR to an invalid group/version: autoscaling/v1"
            raise refusals.Refusal(
                500, "", f"failed to convert new object ({where}) to proper version: {why}"
            )
        native = None if call.served.custom else call.served.schema
        return bodies.patched(call, Made("apply", merged, patch, native), options)

    metadata = config.get("metadata")
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    asked = uid if isinstance(uid, str) else ""
    return Change(to=to, options=options, uid=asked, creates=not call.subresource, owned=True)
