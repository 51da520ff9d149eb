# SPDX-License-Identifier: Apache-2.0
"""What to do so that what there is becomes what is wanted: decided by names, not done. Pure.

Names are identity: an object that is wanted and there is patched, never replaced; one that is
there and not wanted is surplus; a name that a dying object still holds is waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import msgspec

from trellis.api.meta import Metadata, Object, encode
from trellis.runtime.difference import Json, difference
from trellis.runtime.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Key

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Draft:
    """An object that is to be, of which only the metadata is known as a struct.

    Its JSON is written when it is needed and only then: most of what is wanted is there already.
    """

    metadata: Metadata
    write: Callable[[], bytes]


Wanted: TypeAlias = Object | Draft
# The merge patch that makes the first what the second says; empty when nothing differs.
Comparison: TypeAlias = Callable[[Object, Wanted], Json]


class NotOwned(Exception):
    """A wanted object is not controlled by its owner: it would be made again in every pass."""


class NotMarked(Exception):
    """A wanted object lacks the mark by which it is compared."""


class WantedTwice(Exception):
    """Two wanted objects have one name."""


@dataclass(frozen=True, slots=True)
class Edit(Generic[T]):
    have: T
    patch: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[T]):
    create: tuple[Wanted, ...] = ()
    edit: tuple[Edit[T], ...] = ()
    delete: tuple[T, ...] = ()
    blocked: tuple[str, ...] = ()
    """Names that are wanted and still held by objects that are going."""
    foreign: tuple[T, ...] = ()
    """Objects under wanted names that somebody else controls."""


def plan(owner: Object, have: Iterable[T], want: Iterable[Wanted], compare: Comparison) -> Plan[T]:
    """Of what there is, only what the owner controls is ever changed or deleted."""
    wanted = _by_key(owner, want)
    present = {found.metadata.key: found for found in have}
    ours = {key: found for key, found in present.items() if _controls(owner, found)}
    live = {key: found for key, found in ours.items() if not found.metadata.deleting}
    pairs = ((found, wanted[key]) for key, found in live.items() if key in wanted)
    edits = (Edit(found, compare(found, one)) for found, one in pairs)
    return Plan(
        create=tuple(one for key, one in wanted.items() if key not in present),
        edit=tuple(edit for edit in edits if edit.patch),
        delete=tuple(found for key, found in live.items() if key not in wanted),
        blocked=tuple(key.name for key in wanted if key in ours and key not in live),
        foreign=tuple(present[key] for key in wanted if key in present and key not in ours),
    )


def by_fields(*ours: str) -> Comparison:
    """Compares every field that is wanted. `ours` are sections that are wholly ours: `spec.ports`.

    Both sides are of one type, so a field that nobody declared is never touched. What is at its
    default is not wanted in this sense: only in a section of ours does a field go back to it.
    """
    sections = tuple(tuple(path.split(".")) for path in ours)

    def compare(have: Object, want: Wanted) -> Json:
        present: Json = plain(have)
        wanted: Json = msgspec.json.decode(want.write()) if isinstance(want, Draft) else plain(want)
        metadata = _metadata_difference(present.pop("metadata", {}), wanted.pop("metadata", {}))
        for known in ("apiVersion", "kind", "status"):
            wanted.pop(known, None)
        patch = difference(present, wanted, sections)
        return {"metadata": metadata} | patch if metadata else patch

    return compare


def by_name(_: Object, __: Wanted) -> Json:
    """For what is never changed once it is there."""
    return {}


def by_mark(name: str, otherwise: Comparison) -> Comparison:
    """Takes two objects for the same when both carry that label or annotation with the same value.

    For what cannot be compared field by field, or would be too dear to: the mark then is a hash of
    all that was written. Changes that somebody else makes are not noticed.
    """

    def compare(have: Object, want: Wanted) -> Json:
        mark = _mark(want.metadata, name)
        if mark is None:
            raise NotMarked(f"{want.metadata.key} has neither a label nor an annotation {name!r}")
        return {} if _mark(have.metadata, name) == mark else otherwise(have, want)

    return compare


def body(want: Wanted) -> bytes:
    """The object as a create sends it."""
    return want.write() if isinstance(want, Draft) else encode(want)


def _mark(metadata: Metadata, name: str) -> str | None:
    return metadata.annotations.get(name, metadata.labels.get(name))


def _metadata_difference(have: Json, want: Json) -> Json:
    labelled: Json = {name: want.get(name, {}) for name in ("labels", "annotations")}
    patch = difference(have, labelled)
    # Lists that others add to as well: none of theirs is dropped, which needs a version to be safe.
    for name, identity in (("ownerReferences", "uid"), ("finalizers", None)):
        present = have.get(name, [])
        known = [one[identity] if identity else one for one in present]
        missing = [
            one for one in want.get(name, []) if (one[identity] if identity else one) not in known
        ]
        if missing:
            patch |= {name: [*present, *missing], "resourceVersion": have["resourceVersion"]}
    return patch


def _by_key(owner: Object, want: Iterable[Wanted]) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for one in want:
        key = one.metadata.key
        if wanted.setdefault(key, one) is not one:
            raise WantedTwice(f"{key} is wanted twice by {owner.metadata.key}")
        if not _controls(owner, one):
            raise NotOwned(
                f"{key} is not controlled by {owner.metadata.key} with the uid "
                f"{owner.metadata.uid!r}: add it to its ownerReferences"
            )
    return wanted


def _controls(owner: Object, one: Wanted) -> bool:
    controller = one.metadata.controller
    return controller is not None and controller.uid == owner.metadata.uid
