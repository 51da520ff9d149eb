# SPDX-License-Identifier: Apache-2.0
"""The API server put together: what it is made of, what it starts with, who may ask it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.access import Access, SigningKey
from trellis.embedded.admission import Admission, Callers, Plugins, Surroundings
from trellis.embedded.asking import MASTERS, User
from trellis.embedded.core import bootstrap, creating
from trellis.embedded.core.api import Api
from trellis.embedded.core.builtin import natives
from trellis.embedded.core.defining import Definitions
from trellis.embedded.core.reader import StoreReader
from trellis.embedded.core.registry import Registry
from trellis.embedded.core.transport import InProcess
from trellis.embedded.core.world import Call, World
from trellis.embedded.definitions.fields import selectors
from trellis.embedded.exchange import Ask
from trellis.embedded.natives import plugins
from trellis.embedded.store.store import Limits, Store
from trellis.embedded.wire.information import Information
from trellis.embedded.wire.options import WriteOptions

if TYPE_CHECKING:
    from random import Random

    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.journal import Journal
    from trellis.instruments.clock import Clock

ADMIN = User(name="admin", uid="admin", groups=(MASTERS, "system:authenticated"))
_SYSTEM = User(name="system:apiserver", groups=(MASTERS,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`tokens` are fixed ones; those of service accounts are signed with `key`."""

    clock: Clock
    rng: Random
    key: SigningKey = field(default_factory=SigningKey.generate)
    tokens: dict[str, User] = field(default_factory=dict)
    journal: Journal | None = None
    address: str = "127.0.0.1:6443"
    """What discovery says of where the server is."""
    limits: Limits = field(default_factory=Limits)


class Cluster:
    """One per cluster. `start` makes what every cluster has; then `handle` answers requests."""

    def __init__(self, settings: Settings) -> None:
        self.store = Store(settings.journal, settings.limits)
        self._reader = StoreReader(self.store)
        self.registry = Registry(natives=natives(), selectors=selectors)
        self.callers = Callers()
        self.access = Access(
            reader=self._reader,
            clock=settings.clock,
            random=settings.rng,
            key=settings.key,
            tokens=settings.tokens,
        )
        self.admission = Admission(
            Surroundings(
                reader=self._reader, catalogue=self.registry, authorize=self.access.authorize
            ),
            caller=self.callers,
            random=settings.rng,
            plugins=Plugins(
                mutating=[lambda review: plugins.mutate(review, self.world.read, settings.rng)],
                validating=[lambda review: plugins.validate(review, self.world.read)],
            ),
        )
        self.world = World(
            store=self.store,
            reader=self._reader,
            registry=self.registry,
            access=self.access,
            admission=self.admission,
            clock=settings.clock,
            rng=settings.rng,
        )
        self._definitions = Definitions(self.world)
        self._api = Api(self.world, Information(self.registry, settings.clock, settings.address))
        self.handle = self._api.handle
        self.store.subscribe(self._committed)

    async def start(self) -> None:
        """Idempotent: what a journal brought back is left as it is."""
        self._definitions.load()
        for found in bootstrap.objects():
            await self._make(found)

    async def close(self) -> None:
        await self.callers.close()
        self.store.close()

    def transport(self, token: str) -> InProcess:
        return InProcess(self.handle, token)

    def _committed(self, change: Change) -> None:
        record = change.record
        self._reader.forget(change)
        where = (*change.resource, record.namespace, record.name)
        self.access.invalidate(*where)
        self.admission.invalidate(*where)
        self._definitions.committed(change)

    async def _make(self, found: dict[str, object]) -> None:
        group, _, version = str(found["apiVersion"]).rpartition("/")
        kinds = (each for each in self.registry if each.kind == found["kind"])
        served = next(each for each in kinds if (each.group, each.version) == (group, version))
        metadata: dict[str, str] = found["metadata"]  # type: ignore[assignment]
        call = Call(
            ask=Ask(method="POST", path="/", headers={"user-agent": "kube-apiserver"}),
            user=_SYSTEM,
            served=served,
            verb="create",
            namespace=metadata.get("namespace", ""),
        )
        try:
            await creating.create(self.world, call, found, WriteOptions())
        except refusals.Refusal as refusal:
            if refusal.reason != "AlreadyExists":
                raise
