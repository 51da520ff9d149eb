# SPDX-License-Identifier: Apache-2.0
"""The example that a newcomer finds at work, and how to see that it runs.

With an operator it is a PodCliqueSet, without one an ordinary Job.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trellis.api.core import pod as core
from trellis.api.core.job import Job
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import managed, selector
from trellis.api.meta import Metadata, Resource, Value
from trellis.kube.errors import AlreadyExists, ServerFailed
from trellis.kube.events import Delta, Snapshot
from trellis.kube.verbs import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.kube.client import Client

JOB = "job/job.yaml"
SET = "podcliqueset/single.yaml"
_TRIES = 100
_TRY_SECONDS = 0.1


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
        return self.status.phase in {core.RUNNING, core.SUCCEEDED}

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


def manifest(name: str) -> dict[str, Any]:
    """A file under `examples` of a checkout, or the copy that an installed package carries."""
    here = Path(__file__).resolve()
    checkout = here.parents[4] / "examples" / name
    found: dict[str, Any] = yaml.safe_load(
        (checkout if checkout.is_file() else here.parent / name).read_text()
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An object, and the pods that it leads to."""

    resource: Resource
    manifest: dict[str, Any]
    pods: int
    labels: Mapping[str, str]
    described: str

    @classmethod
    def job(cls) -> Example:
        found = manifest(JOB)
        template, wanted = found["spec"]["template"], found["spec"]["parallelism"]
        named = f"Job {found['metadata']['name']}"
        return cls(
            resource=Job.resource,
            manifest=found,
            pods=wanted,
            labels=template["metadata"]["labels"],
            described=f"{named}: {wanted} pods with {_gpus(template['spec'])} GPUs each",
        )

    @classmethod
    def podcliqueset(cls) -> Example:
        found = manifest(SET)
        name, template = found["metadata"]["name"], found["spec"]["template"]
        (clique,) = template["cliques"]
        wanted = found["spec"]["replicas"] * clique["spec"]["replicas"]
        gpus = _gpus(clique["spec"]["podSpec"])
        return cls(
            resource=PodCliqueSet.resource,
            manifest=found,
            pods=wanted,
            labels=managed(name),
            described=f"PodCliqueSet {name}: {wanted} pods with {gpus} GPU each, all or none",
        )

    @property
    def name(self) -> str:
        found: str = self.manifest["metadata"]["name"]
        return found

    @property
    def _selection(self) -> Selection:
        return Selection(labels=selector(dict(self.labels)))

    @property
    def _namespace(self) -> str:
        found: str = self.manifest["metadata"].get("namespace", "default")
        return found

    async def start(self, client: Client) -> None:
        """One that is there already is left as it is.

        An operator that is ready may not yet be known to the server as the one to be asked.
        """
        collection = client.of(self.resource, bytes, self._namespace)
        for _ in range(_TRIES):
            try:
                await collection.create(self.manifest)
            except AlreadyExists:
                return
            except ServerFailed as error:
                refusal = error
                await client.clock.sleep(_TRY_SECONDS)
            else:
                return
        raise NotRunning(f"{self.described}: {refusal}")

    async def until_running(self, client: Client, tell: Callable[[str], None]) -> None:
        """Tells of each pod once it has a node, and once it runs."""
        seen: dict[str, Pod] = {}
        told: dict[str, None] = {}
        collection = client.of(core.Pod.resource, Pod, self._namespace)
        async with collection.watch(self._selection) as watch:
            async for news in watch:
                found = _objects(news)
                seen.update({pod.metadata.name: pod for pod in found})
                for line in (line for pod in found for line in pod.story if line not in told):
                    told[line] = None
                    tell(line)
                if sum(pod.has_run for pod in seen.values()) >= self.pods:
                    return

    async def what_holds_it_up(self, client: Client) -> str:
        """In the cluster's own words."""
        listing = await client.of(core.Pod.resource, Pod, self._namespace).list(self._selection)
        waiting = [pod for pod in listing.objects if not pod.has_run]
        if not listing.objects:
            return f"{self.resource.kind} {self.name} has no pods yet"
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


def _gpus(pod_spec: dict[str, Any]) -> int:
    (container,) = pod_spec["containers"]
    return int(container["resources"]["limits"]["nvidia.com/gpu"])
