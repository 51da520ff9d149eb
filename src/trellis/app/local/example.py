# SPDX-License-Identifier: Apache-2.0
"""The example that a newcomer finds at work: `examples/job`, and how to see that it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trellis.api.core import pod as pods
from trellis.api.core.job import Job
from trellis.api.meta import Metadata, Value
from trellis.kube.errors import AlreadyExists
from trellis.kube.events import Delta, Snapshot
from trellis.kube.verbs import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.client import Client

FILE = "job.yaml"


class NotRunning(Exception):
    """The example does not run. The message says what holds it up."""


class Condition(Value, frozen=True, kw_only=True):
    status: str = ""
    message: str = ""


class PodSpec(Value, frozen=True, kw_only=True):
    node_name: str = ""


class PodStatus(Value, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Pod(Value, frozen=True, kw_only=True):
    """A pod by where it is and how it is, in words for people."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def has_run(self) -> bool:
        return self.status.phase in {pods.RUNNING, pods.SUCCEEDED}

    @property
    def story(self) -> list[str]:
        """What has happened to it so far."""
        name, node = self.metadata.name, self.spec.node_name
        lines = [f"pod {name} is made"]
        if node:
            lines.append(f"pod {name} goes to {node}")
        if self.has_run:
            lines.append(f"pod {name} runs")
        return lines


def folder() -> Path:
    """`examples/job` of a checkout, or the copy that an installed package carries."""
    here = Path(__file__).resolve()
    checkout = here.parents[4] / "examples" / "job"
    return checkout if (checkout / FILE).is_file() else here.parent / "job"


class Example:
    """A Job, and the pods that it asks for."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        self._manifest = manifest
        self.name: str = manifest["metadata"]["name"]
        self._namespace: str = manifest["metadata"]["namespace"]
        self._wanted: int = manifest["spec"]["parallelism"]
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        self._selection = Selection(labels=",".join(f"{key}={labels[key]}" for key in labels))

    @classmethod
    def shipped(cls) -> Example:
        return cls(yaml.safe_load((folder() / FILE).read_text()))

    @property
    def described(self) -> str:
        (container,) = self._manifest["spec"]["template"]["spec"]["containers"]
        gpus = container["resources"]["limits"]["nvidia.com/gpu"]
        return f"Job {self.name}: {self._wanted} pods with {gpus} GPUs each"

    async def start(self, client: Client) -> None:
        """One that is there already is left as it is."""
        try:
            await client.of(Job.resource, bytes, self._namespace).create(self._manifest)
        except AlreadyExists:
            return

    async def until_running(self, client: Client, tell: Callable[[str], None]) -> None:
        """Tells of each pod once it has a node, and once it runs."""
        seen: dict[str, Pod] = {}
        told: dict[str, None] = {}
        collection = client.of(pods.Pod.resource, Pod, self._namespace)
        async with collection.watch(self._selection) as watch:
            async for news in watch:
                found = _objects(news)
                seen.update({pod.metadata.name: pod for pod in found})
                for line in (line for pod in found for line in pod.story if line not in told):
                    told[line] = None
                    tell(line)
                if sum(pod.has_run for pod in seen.values()) >= self._wanted:
                    return

    async def what_holds_it_up(self, client: Client) -> str:
        """In the cluster's own words."""
        listing = await client.of(pods.Pod.resource, Pod, self._namespace).list(self._selection)
        waiting = [pod for pod in listing.objects if not pod.has_run]
        if not listing.objects:
            return f"Job {self.name} has no pods yet"
        said = [
            condition.message
            for pod in waiting
            for condition in pod.status.conditions
            if condition.status == "False" and condition.message
        ]
        return f"{len(waiting)} of its pods wait: {said[0] if said else 'no reason was given'}"


def _objects(news: Snapshot[Pod] | Delta[Pod]) -> list[Pod]:
    if isinstance(news, Snapshot):
        return news.objects
    return [change.object for change in news.changes if change.object is not None]
