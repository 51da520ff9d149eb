# SPDX-License-Identifier: Apache-2.0
"""A toy operator on a real cluster: a Box asks for cards, which are ConfigMaps.

`python -m tests.e2e.runtime.toy KUBECONFIG NAMESPACE IDENTITY` runs it as a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from trellis.api.meta import Metadata, Object, Resource, Value, owner
from trellis.instruments import logs
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.converge import Children
from trellis.runtime.election import LeaseName
from trellis.runtime.env import Env
from trellis.runtime.notes import Note
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.plan import by_fields
from trellis.runtime.process import Group, Process, Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from trellis.api.meta import Key
    from trellis.kube.client import Client
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

BOXES = Resource("toys.trellis.dev", "v1", "Box", "boxes")
CARDS = Resource("", "v1", "ConfigMap", "configmaps")
LEASE = "toys"
FINALIZER = "toys.trellis.dev/cards"
POISON = "poison"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boxes.toys.trellis.dev"},
    "spec": {
        "group": BOXES.group,
        "scope": "Namespaced",
        "names": {"plural": "boxes", "singular": "box", "kind": "Box"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "cards": {"type": "integer", "default": 0},
                                    "text": {"type": "string", "default": "hello"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "cards": {"type": "integer"},
                                    "trouble": {"type": "string"},
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}


class BoxSpec(Value, frozen=True, kw_only=True):
    cards: int = 0
    text: str = "hello"


class BoxStatus(Value, frozen=True, kw_only=True):
    cards: int = 0
    trouble: str = ""


class Box(Object, frozen=True, kw_only=True):
    resource: ClassVar = BOXES

    spec: BoxSpec = BoxSpec()
    status: BoxStatus = BoxStatus()


class Card(Object, frozen=True, kw_only=True):
    resource: ClassVar = CARDS

    data: dict[str, str] = field(default_factory=dict)


def wanted(box: Box) -> Iterator[Card]:
    for number in range(box.spec.cards):
        metadata = Metadata(
            name=f"{box.metadata.name}-{number}",
            namespace=box.metadata.namespace,
            owner_references=(owner(box),),
        )
        yield Card(metadata=metadata, data={"text": box.spec.text})


class Toy:
    """Caches of one namespace, and the controller over them."""

    def __init__(self, namespace: str) -> None:
        here = Scope(namespace=namespace)
        self.boxes: Cache[Box] = Cache(BOXES, Box, scope=here)
        self.cards: Cache[Card] = Cache(CARDS, Card, scope=here)
        self._children = Children(cache=self.cards, compare=by_fields("data"))
        self.controller = Controller(
            name="box",
            cache=self.boxes,
            reconcile=self.reconcile,
            woken_by=(Wakes(self.cards, controller_of(BOXES)),),
        )

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        box = self.boxes.get(key)
        if box is None:
            return DONE
        have = self.cards.owned(box.metadata.uid)
        if box.metadata.deleting:
            done = await io.converge(box, self._children, have, ())
            if not have:
                await io.remove_finalizer(self.boxes, box, FINALIZER)
            return DONE
        if key.name == POISON:
            raise ValueError("poisonous")
        box = await io.add_finalizer(self.boxes, box, FINALIZER)
        done = await io.converge(box, self._children, have, wanted(box))
        count = len(have) + len(done.created) - len(done.deleted)
        trouble = "; ".join(str(each) for each in (*done.conflicts, *done.refused))
        notes = [Note("CardsMade", f"made {len(done.created)} cards")] if done.created else []
        status = BoxStatus(cards=count, trouble=trouble)
        await io.write_status(self.boxes, box, status, notes)
        return DONE if done.complete else Again(1.0)


@asynccontextmanager
async def a_client(kubeconfig: Path) -> AsyncIterator[Client]:
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ=os.environ), file=kubeconfig)
    async with connected(access, clock, Random()) as client:  # noqa: S311
        yield client


def a_process(
    client: Client, toy: Toy, lease: LeaseName | None, *, whole: bool = False
) -> tuple[Process, Env]:
    """`whole`: it is all there is in this Python."""
    env = Env(clock=client.clock, rng=client.rng)
    settings = Settings(
        reporter="trellis.dev/toy",
        instance=lease.identity if lease else "toy",
        whole_process=whole,
    )
    group = Group(controllers=(toy.controller,), lease=lease)
    return Process(client, [group], env, settings), env


async def main(kubeconfig: str, namespace: str, identity: str) -> None:
    logs.configure(SystemClock())
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with a_client(Path(kubeconfig)) as client:
        lease = LeaseName(namespace=namespace, name=LEASE, identity=identity)
        process, _ = a_process(client, Toy(namespace), lease, whole=True)
        await process.run(stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
