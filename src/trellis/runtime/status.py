# SPDX-License-Identifier: Apache-2.0
"""What a controller writes to its own object: status and finalizers, never the spec.

Every write is guarded by the version that was read: lists are written whole and somebody else may
have added to them, and servers do not heed the uid in a patch of a status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import structs

from trellis.api.meta import Metadata, Object, Value, to_builtins
from trellis.kube.batch import together
from trellis.runtime.difference import difference
from trellis.runtime.plain import plain

if TYPE_CHECKING:
    from trellis.runtime.cache import Cache
    from trellis.runtime.difference import Json
    from trellis.runtime.writes import Writes

T = TypeVar("T", bound=Object)


class WithStatus(Protocol):
    """An object that says how it is."""

    @property
    def metadata(self) -> Metadata: ...

    @property
    def status(self) -> Value | None: ...


async def write_status(writes: Writes, cache: Cache[Any], found: WithStatus, status: Value) -> None:
    """Writes the status if it differs from the one that was read, and nothing else."""
    present = plain(found.status) if found.status is not None else {}
    gap = difference({"status": present}, {"status": plain(status)}, (("status",),))
    if gap:
        # The whole of it, because what is always to be said may be missing from what is stored.
        patch = _over({"status": to_builtins(status)}, gap)
        # What is told of is done: it does not wait for all that is yet to be begun.
        with together(1, finishes=True):
            await writes.change(cache, found.metadata, patch, part="status")


async def add_finalizer(writes: Writes, cache: Cache[T], found: T, finalizer: str) -> T:
    """The object with the finalizer. One that is going already is not held up."""
    known = found.metadata
    if finalizer in known.finalizers or known.deleting:
        return found
    patch = {"metadata": {"finalizers": [*known.finalizers, finalizer]}}
    return structs.replace(found, metadata=await writes.change(cache, known, patch))


async def remove_finalizer(writes: Writes, cache: Cache[T], found: T, finalizer: str) -> T:
    """The object without the finalizer. If it was the last, the object may be gone by now."""
    known = found.metadata
    if finalizer not in known.finalizers:
        return found
    rest = [one for one in known.finalizers if one != finalizer]
    patch = {"metadata": {"finalizers": rest}}
    return structs.replace(found, metadata=await writes.change(cache, known, patch))


def _over(base: Json, patch: Json) -> Json:
    """Both in one, the second over the first, with its nulls."""
    merged = {
        name: _over(base[name], value)
        if isinstance(value, dict) and isinstance(base.get(name), dict)
        else value
        for name, value in patch.items()
    }
    return base | merged
