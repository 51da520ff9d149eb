# SPDX-License-Identifier: Apache-2.0
"""What controllers tell people of an object, in the words of the real ones: people and tools know
these. It only tells: nothing is decided by what was told."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from trellis.kube.errors import NamespaceTerminating, Refused
from trellis.runtime.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.api.meta import Metadata, Resource
    from trellis.embedded.controllers.kinds import Json, Pod
    from trellis.embedded.controllers.means import Means


class Voice:
    """Speaks of objects of one kind."""

    def __init__(self, means: Means, resource: Resource) -> None:
        self._recorder = means.recorder
        self._resource = resource

    def say(self, about: Metadata, note: Note) -> None:
        self._recorder.record(self._resource, about, note)


class PodHands:
    """Makes and deletes the pods of owners of one kind, and tells of it."""

    def __init__(self, means: Means, resource: Resource) -> None:
        self._pen = means.pen
        self._pods = means.pods
        self.voice = Voice(means, resource)

    async def make(self, owner: Metadata, bodies: Sequence[Json]) -> list[Exception]:
        """As the pen does. What is in the way of one is in the way of all, thus told once."""
        failed = await self._pen.make(owner, self._pods, bodies, partial(self._made, owner))
        if failed and not namespace_is_going(failed[0]):
            text = f"Error creating: {_in_general(failed[0], bodies[0])}"
            self.voice.say(owner, Note("FailedCreate", text, type="Warning"))
        return failed

    async def delete(self, owner: Metadata, pods: Iterable[Pod]) -> None:
        await self._pen.delete(owner, self._pods, pods, partial(self._deleted, owner))

    def _made(self, owner: Metadata, name: str) -> None:
        self.voice.say(owner, Note("SuccessfulCreate", f"Created pod: {name}"))

    def _deleted(self, owner: Metadata, name: str) -> None:
        self.voice.say(owner, Note("SuccessfulDelete", f"Deleted pod: {name}"))


def _in_general(error: Exception, body: Json) -> str:
    """What the server said, without the made-up name: the next try is told of in the same words."""
    said = error.failure.message if isinstance(error, Refused) else str(error)
    base = body["metadata"]["generateName"]
    return re.sub(rf'"{re.escape(base)}[a-z0-9]+"', lambda _: f'"{base}"', said)


def namespace_is_going(error: Exception) -> bool:
    """A namespace that is going takes no pods, and that is no failure."""
    return isinstance(error, NamespaceTerminating)
