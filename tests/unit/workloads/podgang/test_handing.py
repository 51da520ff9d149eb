# SPDX-License-Identifier: Apache-2.0
"""Gangs for KAI on a cluster: what is written before its pods may start, and what stops them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import Troupe, a_troupe
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set_body
from trellis.api.config.types import (
    Kai,
    OperatorConfiguration,
    SchedulerProfile,
    Schedulers,
    Trellis,
)
from trellis.api.core.definition import Definition
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.errors import Failure, Forbidden, Invalid
from trellis.workloads.podgang.podgroups import KaiPodGroup

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.kube.transport import Request, Stream

W = "one-0-w"
QUEUE = {"kai.scheduler/queue": "research"}


def definition(*, sub_groups: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {"type": kind}
        for name, kind in {
            "minMember": "integer",
            "queue": "string",
            "priorityClassName": "string",
        }.items()
    }
    properties["subGroups"] = {
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    properties["markUnschedulable"] = {"type": "boolean"}
    if sub_groups:
        properties["minSubGroup"] = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    version = {
        "name": "v2alpha2",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "metadata": {"name": "podgroups.scheduling.run.ai"},
        "spec": {
            "group": "scheduling.run.ai",
            "names": {
                "plural": "podgroups",
                "kind": "PodGroup",
                "singular": "podgroup",
                "listKind": "PodGroupList",
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


async def for_kai(
    *, mode: str = "auto", labels: dict[str, str] | None = None, kai: bool | None = True
) -> Troupe:
    """A set of one clique for KAI. `kai`: whether it knows groups of groups, if it is there."""
    spec = {**POD_SPEC, "schedulerName": "kai-scheduler"}
    body = a_set_body("one", a_clique("w", 2, podSpec=spec))
    body["metadata"]["labels"] = QUEUE if labels is None else labels
    troupe = await a_troupe(body)
    troupe.stage.configuration = OperatorConfiguration(
        scheduler=Schedulers(profiles=(SchedulerProfile(name="kai-scheduler"),)),
        trellis=Trellis(kai=Kai(mode=mode)),
    )
    if kai is not None:
        await troupe.stage.make(Definition, definition(sub_groups=kai))
    return troupe


def references(gang: dict[str, Any]) -> list[str]:
    return [each["name"] for each in gang["spec"]["podgroups"][0]["podReferences"]]


@virtual
async def test_kai_reads_a_gang_that_lists_what_exists_before_any_gate_goes() -> None:
    troupe = await for_kai(mode="podgang")
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        gang = await troupe.stage.get(PodGang, "one-0")
        assert references(gang) == []
        assert gang["metadata"]["labels"]["kai.scheduler/queue"] == "research"
        names = await troupe.make_pods("one-0")
        troupe.stage.forget()
        await troupe.stage.settle(1)
        assert references(await troupe.stage.get(PodGang, "one-0")) == names
        assert await troupe.gated() == []
        writes = troupe.stage.writes()
        lifts = [index for index, write in enumerate(writes) if write.startswith("PATCH pods/")]
        lists = [index for index, write in enumerate(writes) if write == "PATCH podgangs/one-0"]
        assert max(lists) < min(lifts)
        assert await troupe.stage.names(KaiPodGroup) == []


@virtual
async def test_a_kai_that_knows_groups_of_groups_is_given_a_podgroup_before_any_gate_goes() -> None:
    troupe = await for_kai()
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(1)
        group = await troupe.stage.get(KaiPodGroup, "one-0")
        assert group["spec"] == {
            "minMember": 2,
            "queue": "research",
            "subGroups": [{"name": W, "minMember": 2}],
        }
        (reference,) = group["metadata"]["ownerReferences"]
        assert (reference["kind"], reference["name"]) == ("PodGang", "one-0")
        await troupe.make_pods("one-0")
        await troupe.stage.settle(1)
        assert await troupe.gated() == []
        gang = await troupe.stage.get(PodGang, "one-0")
        assert gang["metadata"]["annotations"]["kai.scheduler/skip-podgrouper"] == "true"
        assert len(references(gang)) == 2


@virtual
async def test_an_older_kai_reads_the_gang_itself() -> None:
    troupe = await for_kai(kai=False)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(1)
        gang = await troupe.stage.get(PodGang, "one-0")
        assert "kai.scheduler/skip-podgrouper" not in gang["metadata"]["annotations"]
        await troupe.make_pods("one-0")
        await troupe.stage.settle(1)
        assert await troupe.gated() == []


@virtual
async def test_what_kai_made_its_own_stays_and_what_is_lost_comes_back() -> None:
    troupe = await for_kai()
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle()
        theirs: dict[str, Any] = {"spec": {"queue": "moved", "markUnschedulable": True}}
        await troupe.stage.patch(KaiPodGroup, "one-0", theirs)
        await troupe.stage.patch(PodClique, W, {"spec": {"replicas": 1}})
        await troupe.stage.settle()
        spec = (await troupe.stage.get(KaiPodGroup, "one-0"))["spec"]
        assert (spec["queue"], spec["markUnschedulable"], spec["minMember"]) == ("moved", True, 1)
        await troupe.stage.delete(KaiPodGroup, "one-0")
        await troupe.stage.settle()
        assert await troupe.stage.names(KaiPodGroup) == ["one-0"]
        troupe.stage.forget()
        await troupe.stage.settle(600)
        assert troupe.stage.writes() == []


@pytest.mark.parametrize("mode", ["podgang", "podgroup"])
def test_without_a_queue_its_pods_stay_where_they_are_and_it_says_why(mode: str) -> None:
    @virtual
    async def story() -> None:
        troupe = await for_kai(mode=mode, labels={})
        async with troupe.operator():
            await troupe.make_alone()
            await troupe.stage.settle(0.1)
            await troupe.make_pods("one-0")
            await troupe.stage.settle()
            assert len(await troupe.gated()) == 2
            told = await troupe.stage.conditions(PodGang, "one-0")
            assert told["Stalled"] == ("True", "KAIBackendMappingFailed")
            assert told["Scheduled"] == ("False", "KAIBackendMappingFailed")
            ((reason, text),) = await troupe.stage.events("one-0")
            assert reason == "KAIBackendMappingFailed"
            assert "label the set with kai.scheduler/queue" in text
            await troupe.stage.patch(PodCliqueSet, "one", {"metadata": {"labels": QUEUE}})
            await troupe.stage.settle()
            assert await troupe.gated() == []
            told = await troupe.stage.conditions(PodGang, "one-0")
            assert told["Stalled"][0] == "False"

    story()


@virtual
async def test_a_podgroup_that_kai_refuses_is_told_and_tried_again() -> None:
    troupe = await for_kai()
    refusing = True

    def refuse(request: Request) -> None:
        if refusing and request.method == "POST" and request.path.endswith("/podgroups"):
            raise Invalid(str(request), Failure(code=422, message="no such queue"))

    troupe.stage.watched.before = refuse
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        assert "no such queue" in await troupe.stage.message(PodGang, "one-0", "Scheduled")
        assert len(await troupe.gated()) == 2
        refusing = False
        await troupe.stage.settle(120)
        assert await troupe.gated() == []


@virtual
async def test_the_podgroup_of_somebody_else_is_left_alone() -> None:
    troupe = await for_kai()
    await troupe.stage.make(KaiPodGroup, {"metadata": {"name": "one-0"}, "spec": {"minMember": 9}})
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        told = await troupe.stage.message(PodGang, "one-0", "Scheduled")
        assert "KAI's PodGroup one-0 belongs to nobody" in told
        assert len(await troupe.gated()) == 2
        await troupe.stage.delete(KaiPodGroup, "one-0")
        await troupe.stage.settle(60)
        assert await troupe.gated() == []


@virtual
async def test_without_kai_a_gang_that_is_to_have_a_podgroup_waits_until_it_is_there() -> None:
    troupe = await for_kai(mode="podgroup", kai=None)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        told = await troupe.stage.message(PodGang, "one-0", "Scheduled")
        assert "podgroups.scheduling.run.ai is not served here" in told
        await troupe.stage.make(Definition, definition(sub_groups=True))
        await troupe.stage.settle(120)
        assert await troupe.gated() == []
        assert await troupe.stage.names(KaiPodGroup) == ["one-0"]
        assert await troupe.stage.names(Pod) != []


@virtual
async def test_while_podgroups_cannot_be_read_nothing_starts_and_then_all_does() -> None:
    troupe = await for_kai()
    watched, blind = troupe.stage.watched, True
    served = watched.stream

    @asynccontextmanager
    async def stream(request: Request) -> AsyncIterator[Stream]:
        if blind and request.path.endswith("/podgroups"):
            raise Forbidden(str(request), Failure(code=403))
        async with served(request) as found:
            yield found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watched, "stream", stream)
        async with troupe.operator():
            await troupe.make_alone()
            await troupe.stage.settle(0.1)
            await troupe.make_pods("one-0")
            await troupe.stage.settle(30)
            assert len(await troupe.gated()) == 2
            blind = False
            await troupe.stage.settle(120)
            assert await troupe.gated() == []
