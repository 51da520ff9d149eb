# SPDX-License-Identifier: Apache-2.0
"""Tells stories to a cluster with one kubectl, and keeps what it printed."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.conformance.clients.plain import plain
from tests.conformance.clients.story import Kubectl, PodsRun, Story, Until, Watching
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cluster import Cluster

COMMAND_SECONDS = 60.0
AT_ONCE = 4
READY = {
    "status": {
        "phase": "Running",
        "conditions": [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")],
    }
}

BROKEN = "the story went no further"

Told = list[dict[str, Any]]


@dataclass(slots=True)
class Teller:
    """One story on its way."""

    cluster: Cluster
    program: Path
    home: str
    namespace: str
    id: str
    told: Told = field(default_factory=list)

    @property
    def names(self) -> dict[str, str]:
        return {self.namespace: "<ns>", self.id: "<id>", self.home: "<home>"}

    async def tell(self, story: Story) -> Told:
        try:
            for step in story.steps:
                await self._take(step)
        finally:
            for command in story.cleanup:
                await self._run(command)
        return self.told

    async def _take(self, step: Kubectl | Watching | PodsRun | Until) -> None:
        match step:
            case Kubectl():
                self.told.append(await self._run(step))
            case Watching():
                await self._watch(step)
            case PodsRun():
                await self._run_pods(step.count)
            case Until():
                await eventually(partial(self._shows, step), f"{step.line} to print {step.shows}")

    async def _shows(self, step: Until) -> bool:
        said = await self._run(Kubectl(step.line))
        return any(step.shows in line for line in (*said["out"], *said["err"]))

    async def _run(self, command: Kubectl) -> dict[str, Any]:
        process = await self._start(command)
        given = self._filled(command.stdin).encode()
        async with asyncio.timeout(COMMAND_SECONDS):
            out, err = await process.communicate(given)
        return {
            "command": command.line,
            "exit": process.returncode,
            "out": plain(out.decode(), self.names),
            "err": plain(err.decode(), self.names),
        }

    async def _watch(self, step: Watching) -> None:
        process = await self._start(Kubectl(step.line))
        assert process.stdout is not None
        lines: list[bytes] = []

        async def read(count: int) -> None:
            async with asyncio.timeout(COMMAND_SECONDS):
                for _ in range(count):
                    lines.append(await process.stdout.readline())  # type: ignore[union-attr]

        try:
            await read(step.before)
            said = [await self._run(command) for command in step.meanwhile]
            await read(step.after)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()
        text = b"".join(lines).decode()
        self.told.append({"command": step.line, "out": plain(text, self.names)})
        self.told.extend(said)

    async def _start(self, command: Kubectl) -> asyncio.subprocess.Process:
        environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self.cluster.kubeconfig),
            "HOME": self.home,
            "KUBE_EDITOR": f"sed -i -e {shlex.quote(command.edit)}",
        }
        return await asyncio.create_subprocess_exec(
            *(self.program, "--namespace", self.namespace),
            *shlex.split(self._filled(command.line)),
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    def _filled(self, text: str) -> str:
        return text.replace("{ns}", self.namespace).replace("{id}", self.id)

    async def _run_pods(self, count: int) -> None:
        pods = f"/api/v1/namespaces/{self.namespace}/pods"

        async def there() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = (await self.cluster.api.do("GET", pods))["items"]
            alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
            return alive if len(alive) == count else []

        for pod in await eventually(there, f"{count} pods"):
            path = f"{pods}/{pod['metadata']['name']}/status"
            await self.cluster.api.do("PATCH", path, READY, patch="merge")


async def tell(cluster: Cluster, program: Path, stories: list[Story]) -> dict[str, Told]:
    """All of them, several at a time, each in a namespace of its own, by title."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(story: Story, home: str) -> Told:
        async with turns, fresh_namespace(cluster.api) as namespace:
            teller = Teller(cluster, program, home, namespace, "q" + secrets.token_hex(5))
            try:
                return await teller.tell(story)
            except (AssertionError, TimeoutError) as error:
                return [*teller.told, {BROKEN: f"{type(error).__name__}: {error}"}]

    with tempfile.TemporaryDirectory() as home:
        told = await asyncio.gather(*(one(story, home) for story in stories))
    return {story.title: said for story, said in zip(stories, told, strict=True)}
