# SPDX-License-Identifier: Apache-2.0
"""The replicas of sets as keys of their own: which there are, and to which an object belongs. Pure.

Objects are filed by the uid of their set and by the replica in their name: a label that says the
same may be edited by anybody, and what bears that of another replica would go as surplus there.
What a set controls and what is called otherwise is filed too, under the set itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.meta import Key, Object
from trellis.api.names import replica_of
from trellis.runtime.controller import controller_of
from trellis.runtime.index import Index
from trellis.runtime.writes import part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.meta import Metadata

_set_of = controller_of(PodCliqueSet.resource)


@dataclass(frozen=True, slots=True)
class Shard:
    """One replica of a set; without an index, whatever of the set is of none by its name."""

    set: Key
    index: int | None = None

    @classmethod
    def of(cls, key: Key) -> Shard:
        name, _, index = key.name.partition("/")
        return cls(Key(key.namespace, name), int(index) if index else None)

    @property
    def key(self) -> Key:
        if self.index is None:
            return self.set
        return Key(self.set.namespace, f"{self.set.name}/{self.index}")

    def writer(self, uid: str) -> str:
        """In whose name its objects are written, given the uid of the set."""
        return part_of(uid, "" if self.index is None else str(self.index))


def shards_of_set(found: PodCliqueSet) -> Iterator[Key]:
    """All replicas that a set asks for."""
    for index in range(found.spec.replicas):
        yield Shard(found.metadata.key, index).key


def shard_of_child(found: Object) -> Iterator[Key]:
    """The replica that an object of a set was made for."""
    for key in _set_of(found):
        yield Shard(key, replica_of(key.name, found.metadata.name)).key


def _filed(found: Object) -> Iterator[str]:
    for key in _set_of(found):
        owner = found.metadata.controller
        if owner is not None:
            yield Shard(key, replica_of(key.name, found.metadata.name)).writer(owner.uid)


BY_REPLICA: Index[Any] = Index("replica", _filed)
"""Files what sets control under the writer of its shard."""


def is_written_anew(old: Object, new: Object) -> bool:
    """Whether anything differs but its status, for kinds whose generation follows their spec."""
    return _declared(old.metadata) != _declared(new.metadata)


def _declared(metadata: Metadata) -> tuple[object, ...]:
    return (
        metadata.generation,
        metadata.deleting,
        metadata.labels,
        metadata.annotations,
        metadata.owner_references,
    )
