# SPDX-License-Identifier: Apache-2.0
"""The scale of an object: its replicas alone, read and written as a small object of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.copying import copied
from trellis.embedded.core import patching, updating
from trellis.embedded.core.bodies import kind_served
from trellis.embedded.core.writing import (
    circumstances,
    manager_of,
    place,
    refuse_invalid,
    retried,
    review_of,
    tell,
)
from trellis.embedded.definitions import scale as custom
from trellis.embedded.fielderrors import invalid
from trellis.embedded.fields import from_scale, to_scale, updated
from trellis.embedded.natives import scale as native
from trellis.embedded.wire.options import patch_options, write_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object, Review
    from trellis.embedded.core.bodies import Bodies
    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.exchange import Answer
    from trellis.embedded.served import Served
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.options import WriteOptions

_GROUP, _KIND = "autoscaling", "Scale"


@dataclass(frozen=True, slots=True)
class _Write:
    to: Callable[[Object], Object]
    options: WriteOptions


async def scale(world: World, call: Call, bodies: Bodies, present: Presenter) -> Answer:
    if call.ask.method in {"GET", "HEAD"}:
        _, parent = _parent(world, call)
        return present.said(call, scale_of(call.served, parent))
    write = _write(world, call, bodies)
    return present.said(call, await retried(call, lambda: _written(world, call, write)))


def scale_of(served: Served, parent: Object) -> Object:
    """Raises a refusal where the object has no replicas that could be read."""
    if served.custom:
        return custom.get_scale(served.subresources["scale"]["paths"], parent)
    return native.get_scale(served.group, served.kind, parent)


def _write(world: World, call: Call, bodies: Bodies) -> _Write:
    if call.ask.method == "PATCH":
        kind = patching.media_type(call)
        options = patch_options(call.ask, apply=kind == patching.APPLY)
        return _Write(patching.change(world, call, bodies, kind, options).to, options)
    options = write_options(call.ask, "UpdateOptions")
    new = bodies.subobject(call, options)
    return _Write(lambda _: copied(new), options)


def _parent(world: World, call: Call) -> tuple[Record, Object]:
    record = world.shelf(call.served).get(call.namespace, call.name)
    if record is None:
        raise refusals.not_found(call.served.group, call.served.plural, call.name)
    return record, world.object(call.served, record)


def _before(call: Call, parent: Object) -> Object:
    """The scale to be changed: replicas that are not there yet count as none."""
    try:
        return scale_of(call.served, parent)
    except refusals.Refusal:
        filled = copied(parent)
        _put(call.served, filled, {"spec": {}})
        return scale_of(call.served, filled)


def _put(served: Served, parent: Object, shown: Object) -> None:
    if served.custom:
        custom.put_scale(served.subresources["scale"]["paths"], parent, shown)
    else:
        native.put_scale(served.group, served.kind, parent, shown)


def _path(served: Served) -> tuple[str, ...]:
    if not served.custom:
        return ("spec", "replicas")
    path: str = served.subresources["scale"]["paths"]["specReplicasPath"]
    return tuple(path.removeprefix(".").split("."))


async def _written(world: World, call: Call, write: _Write) -> Object:
    record, parent = _parent(world, call)
    served, path = call.served, _path(call.served)
    old = _before(call, parent)
    entries = to_scale(parent["metadata"].get("managedFields"), path)
    if entries:
        old["metadata"]["managedFields"] = entries
    new = write.to(old)
    updating.named_as_asked(call, new)
    place(call, new)
    shown = kind_served(call)
    updated(new, old, shown, manager_of(world, call, write.options, shown))
    # Admission sees a scale without its owners.
    entries = new["metadata"].pop("managedFields", None)
    old["metadata"].pop("managedFields", None)
    review = review_of(call, write.options, new, old)
    await world.admission.mutate(review)
    new = review.written
    _check(call, new)
    if new["metadata"].get("resourceVersion"):
        updating.check_current(call, new, record)
    changed = copied(parent)
    _put(served, changed, new)
    owners = from_scale(
        entries,
        parent["metadata"].get("managedFields"),
        path,
        served.api_version,
        served.custom,
    )
    if owners:
        changed["metadata"]["managedFields"] = owners
    revision = updating.Revision(changed, parent, record, dry_run=review.dry_run)
    return scale_of(served, await _stored(world, call, revision, review))


async def _stored(world: World, call: Call, revision: updating.Revision, review: Review) -> Object:
    new, old, served = revision.new, revision.old, call.served
    about = circumstances(world, replace(call, subresource=""), call.name)
    served.strategy.default(new)
    served.strategy.prepare_update(new, old, about)
    refuse_invalid(served, new, served.strategy.validate_update(new, old, about))
    tell(call, served.strategy.warnings(new, old))
    await world.admission.validate(review)
    return updating.commit(world, call, revision)


def _check(call: Call, new: Object) -> None:
    """Of custom kinds the object's own rules say it."""
    replicas = (new.get("spec") or {}).get("replicas") or 0
    if replicas < 0 and not call.served.custom:
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise refusals.invalid(_GROUP, _KIND, call.name, [error])
