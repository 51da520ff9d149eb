# SPDX-License-Identifier: Apache-2.0
"""The cluster that every story begins with: prepared once a process, then only copied.

It has our kinds, our webhooks, two namespaces and some nodes. What a schema says of pods is left
out of our kinds: it takes a second to read, and the pods themselves are checked anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from tests.sim import swift
from tests.support.virtual import dice
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.scheduler.podgang import PodGang
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.admission import webhook_configurations
from trellis.app.manifests.installation import Installation
from trellis.app.manifests.workloads import WORKLOAD_WEBHOOKS
from trellis.embedded.access import SigningKey
from trellis.embedded.asking import MASTERS, User
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.exchange import Ask
from trellis.embedded.simulation.loop import VirtualClock, run
from trellis.embedded.store.entries import kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from trellis.embedded.served import Served
    from trellis.embedded.store.entries import Entry
    from trellis.embedded.store.journal import Journal

INSTALLATION = Installation()
NAMESPACES = ("red", "blue")
NODES = tuple(f"node-{number}" for number in range(4))
PRIORITY = "blue"
"""The one PriorityClass there is, beside those that every cluster has."""
OUR_KINDS = (PodCliqueSet, PodCliqueScalingGroup, PodClique, PodGang)

ADMIN_TOKEN = "admin"
OPERATOR_TOKEN = "operator"
OPERATOR = User(
    name=f"system:serviceaccount:{INSTALLATION.namespace}:{INSTALLATION.name}",
    uid="operator",
    groups=(MASTERS, "system:authenticated"),
)

_FOREIGN = ("podSpec", "templateSpec")
_OPAQUE = {
    "type": "object",
    # A rule of ours speaks of it.
    "properties": {"schedulerName": {"type": "string", "maxLength": 253}},
    "x-kubernetes-preserve-unknown-fields": True,
}


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything that a prepared cluster holds. `cluster` makes another one just like it."""

    entries: tuple[Entry, ...]
    served: tuple[Served, ...]
    key: SigningKey

    def cluster(self, rng: Random) -> Cluster:
        made = _cluster(self.key, rng, _Prepared(self.entries))
        for served in self.served:
            made.registry.define(served.group, served.plural, (served,))
        return made


@cache
def ground() -> Ground:
    swift.prepare()
    key = SigningKey.generate()
    cluster = _cluster(key, dice(0), None)
    run(_prepare(cluster))
    entries = [
        kept(shelf.resource, record) for shelf in cluster.store.shelves() for record in shelf.list()
    ]
    # In the order in which they were written, as a journal would have them.
    ordered = tuple(sorted(entries, key=lambda entry: entry.version))
    made = Ground(ordered, tuple(cluster.registry.customs.values()), key)
    swift.settled()
    return made


def definitions() -> Iterator[dict[str, Any]]:
    """Our kinds as they are installed here."""
    for served in KINDS:
        if served.type in OUR_KINDS:
            yield _lighter(definition(served))


class _Prepared:
    """A journal that begins with what was prepared and keeps nothing of what follows."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries

    def entries(self) -> Iterator[Entry]:
        return iter(self._entries)

    def append(self, entry: Entry) -> None:
        """What happens in a story ends with it."""

    def bloated(self, _: int) -> bool:
        return False

    def close(self) -> None:
        """There is no file."""


def _cluster(key: SigningKey, rng: Random, prepared: _Prepared | None) -> Cluster:
    settings = Settings(
        clock=VirtualClock(),
        rng=rng,
        key=key,
        tokens={ADMIN_TOKEN: ADMIN, OPERATOR_TOKEN: OPERATOR},
        journal=cast("Journal | None", prepared),
    )
    return Cluster(settings)


async def _prepare(cluster: Cluster) -> None:
    await cluster.start()
    for body in definitions():
        await _post(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    for namespace in (*NAMESPACES, INSTALLATION.namespace):
        await _post(cluster, "/api/v1/namespaces", {"metadata": {"name": namespace}})
        # The controller that makes one in every namespace is not here.
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        await _post(cluster, accounts, {"metadata": {"name": "default"}})
    priority = {"metadata": {"name": PRIORITY}, "value": 7}
    await _post(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses", priority)
    for node in NODES:
        labels = {"kubernetes.io/hostname": node}
        await _post(cluster, "/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
    installed = [webhook for webhook in WORKLOAD_WEBHOOKS if not webhook.optional]
    for body in webhook_configurations(installed, INSTALLATION):
        plural = f"{body['kind'].lower()}s"
        await _post(cluster, f"/apis/admissionregistration.k8s.io/v1/{plural}", body)


async def _post(cluster: Cluster, path: str, body: dict[str, Any]) -> None:
    answer = await cluster.handle(
        Ask(
            method="POST",
            path=path,
            headers={
                "authorization": f"Bearer {ADMIN_TOKEN}",
                "user-agent": "kubectl/1",
                "content-type": "application/json",
            },
            body=msgspec.json.encode(body),
        )
    )
    assert answer.status == 201, answer.body


def _lighter(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lighter(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _OPAQUE if name in _FOREIGN else _lighter(one) for name, one in schema.items()}
