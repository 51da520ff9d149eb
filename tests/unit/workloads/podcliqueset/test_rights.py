# SPDX-License-Identifier: Apache-2.0
"""Who may read whom, while pods wait for each other to start: in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.support.virtual import virtual
from tests.unit.workloads.podcliqueset.making import in_turn, make_well, the_set
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.core.pod import Pod
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.serviceaccount import ServiceAccount
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import managed
from trellis.api.meta import owner, to_builtins
from trellis.workloads.podcliqueset.reconciler import controllers

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

Json = dict[str, Any]
ROLE = "grove.io:pcs:llm"
NEWER = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}


@virtual
async def test_those_that_wait_get_the_right_to_read_whom_they_wait_for() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, in_turn(replicas=1))
        await stage.settle()
        role = await stage.get(Role, ROLE)
        assert role["rules"] == [
            {
                "apiGroups": ["grove.io"],
                "resources": ["podcliques"],
                "resourceNames": ["llm-0-lead"],
                "verbs": ["get", "list", "watch"],
            }
        ]
        binding = await stage.get(RoleBinding, ROLE)
        assert [one["name"] for one in binding["subjects"]] == ["workers"]
        assert binding["roleRef"]["name"] == ROLE

        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 2}})
        await stage.delete(RoleBinding, ROLE)
        await stage.settle()
        role = await stage.get(Role, ROLE)
        assert role["rules"][0]["resourceNames"] == ["llm-0-lead", "llm-1-lead"]
        assert (await stage.get(RoleBinding, ROLE))["metadata"]["uid"] != binding["metadata"]["uid"]
        await stage.patch(Role, ROLE, {"rules": []})
        await stage.settle()
        assert (await stage.get(Role, ROLE))["rules"] == role["rules"]

        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 0}})
        await stage.settle()
        assert await stage.find(Role, ROLE) is None
        assert await stage.find(RoleBinding, ROLE) is None


async def subjects(stage: Stage) -> list[str]:
    return [one["name"] for one in (await stage.get(RoleBinding, ROLE))["subjects"]]


async def hand_over(stage: Stage, account: str) -> None:
    """The set's workers are to run under another account from now on."""
    template = in_turn()["spec"]["template"]
    template["cliques"][1]["spec"]["podSpec"] = POD_SPEC | {"serviceAccountName": account}
    await stage.patch(PodCliqueSet, "llm", {"spec": {"template": template}})
    await stage.settle()


async def make_worker(stage: Stage, replica: int, account: str) -> str:
    clique = await stage.get(PodClique, f"llm-{replica}-worker")
    found = msgspec.json.decode(msgspec.json.encode(clique), type=PodClique)
    metadata = {
        "name": f"llm-{replica}-worker-0",
        "labels": managed("llm"),
        "ownerReferences": [to_builtins(owner(found))],
    }
    await stage.make(ServiceAccount, {"metadata": {"name": account}})
    spec = POD_SPEC | {"serviceAccountName": account}
    await stage.make(Pod, {"metadata": metadata, "spec": spec})
    return str(metadata["name"])


@virtual
async def test_replicas_that_wait_for_their_turn_keep_the_rights_of_their_account() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, in_turn(replicas=2))
        await stage.settle()
        await make_well(stage)
        await stage.settle()
        await hand_over(stage, "others")
        bore = [
            one["spec"]["podSpec"]["serviceAccountName"]
            for one in await stage.all(PodClique)
            if one["metadata"]["name"].endswith("-worker")
        ]
        assert "workers" in bore, "no replica waits for its turn"
        assert await subjects(stage) == ["others", "workers"]


@virtual
async def test_an_account_is_dropped_with_the_last_pod_that_runs_under_it() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        body = in_turn(replicas=1)
        body["spec"]["updateStrategy"] = {"type": "OnDelete"}
        await stage.make(PodCliqueSet, body)
        await stage.settle()
        await make_well(stage)
        pod = await make_worker(stage, 0, "workers")
        await hand_over(stage, "others")
        outdated = {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 0}
        await stage.patch(PodClique, "llm-0-worker", {"status": outdated}, part="status")
        await stage.settle()
        assert await subjects(stage) == ["others", "workers"]
        stage.forget()
        await stage.settle(60)
        assert stage.writes() == []

        await stage.delete(Pod, pod, grace=0)
        await make_well(stage)
        await stage.settle()
        assert await subjects(stage) == ["others"]


@virtual
async def test_where_nobody_waits_nobody_gets_a_right() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("a"), a_clique("b")))
        await stage.settle()
        assert await stage.find(Role, ROLE) is None
        assert not [write for write in stage.writes() if "role" in write]


@virtual
async def test_pods_of_groves_keep_their_rights_until_the_last_is_gone() -> None:
    stage = await a_stage()
    await stage.make(PodCliqueSet, in_turn(replicas=1))
    found = msgspec.json.decode(msgspec.json.encode(await the_set(stage)), type=PodCliqueSet)
    metadata = {
        "name": ROLE,
        "labels": managed("llm"),
        "ownerReferences": [to_builtins(owner(found))],
    }
    verbs = ["get", "list", "watch"]
    rule = {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": verbs}
    account = {"kind": "ServiceAccount", "name": "llm", "namespace": "default"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ROLE}
    await stage.make(Role, {"metadata": metadata, "rules": [rule]})
    await stage.make(
        RoleBinding, {"metadata": metadata, "roleRef": reference, "subjects": [account]}
    )
    pod = {"metadata": {"generateName": "llm-0-worker-", "labels": managed("llm")}}
    name = (await stage.make(Pod, pod | {"spec": POD_SPEC}))["metadata"]["name"]
    async with stage.operator(controllers):
        rules = (await stage.get(Role, ROLE))["rules"]
        assert rule in rules
        assert len(rules) == 2
        subjects = (await stage.get(RoleBinding, ROLE))["subjects"]
        assert [one["name"] for one in subjects] == ["workers", "llm"]
        await stage.delete(Pod, name, grace=0)
        await make_well(stage)
        await stage.settle()
        assert rule not in (await stage.get(Role, ROLE))["rules"]
        subjects = (await stage.get(RoleBinding, ROLE))["subjects"]
        assert [one["name"] for one in subjects] == ["workers"]
