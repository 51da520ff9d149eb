# SPDX-License-Identifier: Apache-2.0
"""The definitions of `deploy/crds` as a user meets them: applied, explained, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.api.served import DEFINITIONS, RESOURCES, create, manifest, place
from tests.support.waiting import eventually
from trellis.api.schema.generate import FOLDER

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

KINDS = list(RESOURCES)
WELL = {
    "type": "Ready",
    "status": "True",
    "reason": "AllReplicasAvailable",
    "message": "2 of 2",
    "lastTransitionTime": "2026-03-01T12:00:00Z",
}


async def test_applying_them_again_changes_nothing(defined: Cluster) -> None:
    said = (await defined.kubectl("apply", "-f", str(FOLDER))).splitlines()
    assert len(said) == len(KINDS)
    assert all(line.endswith(" unchanged") for line in said), said


@pytest.mark.parametrize("kind", KINDS)
async def test_a_definition_is_established_and_structural(defined: Cluster, kind: str) -> None:
    resource = RESOURCES[kind]
    path = f"{DEFINITIONS}/{resource.plural}.{resource.group}"
    conditions = (await defined.api.do("GET", path))["status"]["conditions"]
    statuses = {condition["type"]: condition["status"] for condition in conditions}
    assert statuses == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("pcs", "Identical replicas of a system"),
        ("pcs.spec.replicas", "How many replicas of the whole system to run"),
        ("pcs.spec.template.cliques.spec.minAvailable", "must start together"),
        ("pcs.status.conditions.reason", "from the catalogue of reasons"),
        ("pclq.spec.podSpec.containers.image", "<string>"),
        ("pcsg.spec.cliqueNames", "The cliques in each replica"),
        ("ct.spec.levels.domain", "The level, which workloads name"),
        ("ctb.spec.levels", "from the broadest to the narrowest"),
        ("podgangs.spec.podgroups.podReferences", "which name each index has now"),
    ],
)
async def test_kubectl_explains_every_field(defined: Cluster, path: str, words: str) -> None:
    async def explained() -> bool:
        # The server publishes what kubectl explains from a little after it serves a kind.
        said = await defined.kubectl("explain", path, check=False)
        return words in " ".join(said.split())

    await eventually(explained, f"{path} to be explained with {words!r}")


async def columns(cluster: Cluster, *arguments: str) -> tuple[list[str], list[str]]:
    """The titles and the first row of what kubectl lists."""
    titles, row, *_ = (await cluster.kubectl("get", *arguments)).splitlines()
    return titles.split(), row.split()


async def test_a_set_is_listed_with_how_it_is_first(defined: Cluster, namespace: str) -> None:
    body = manifest("grove-everything")
    await create(defined.api, namespace, body)
    path = f"{place('PodCliqueSet', namespace)}/everything/status"
    await defined.api.do("PATCH", path, {"status": body["status"]}, patch="merge")
    titles, row = await columns(defined, "pcs", "-n", namespace)
    assert titles == ["NAME", "READY", "REASON", "REPLICAS", "AVAILABLE", "UPDATED", "AGE"]
    assert row[:-1] == ["everything", "True", "AllReplicasAvailable", "2", "2", "1"]
    titles, row = await columns(defined, "pcs", "-n", namespace, "-o", "wide")
    assert titles[6:-1] == ["PCLQS-UPDATED", "PCLQS-TOTAL", "PCSGS-UPDATED", "PCSGS-TOTAL"]
    assert row[6:-1] == ["1", "2", "0", "2"]


async def test_cliques_groups_and_gangs_are_listed_as_grove_does(
    defined: Cluster, namespace: str
) -> None:
    for name in ("grove-podclique", "grove-scalinggroup", "grove-podgang"):
        body = manifest(name)
        body["metadata"].pop("finalizers", None)
        await create(defined.api, namespace, body)
        status = body["status"] | {"conditions": [*body["status"]["conditions"], WELL]}
        path = f"{place(body['kind'], namespace)}/{body['metadata']['name']}/status"
        await defined.api.do("PATCH", path, {"status": status}, patch="merge")
    wide = ("-n", namespace, "-o", "wide")
    titles, row = await columns(defined, "pclq", *wide)
    assert dict(zip(titles[1:-1], row[1:-1], strict=True)) == {
        "REASON": "AllReplicasAvailable",
        "MINAVAIL": "2",
        "REPLICAS": "0",
        "READY": "1",
        "SCHEDULED": "1",
        "UPDATED": "0",
        "GATED": "1",
        "MINBREACHED": "Unknown",
    }
    titles, row = await columns(defined, "pcsg", "-n", namespace)
    assert dict(zip(titles[1:-1], row[1:-1], strict=True)) == {
        "READY": "True",
        "REASON": "AllReplicasAvailable",
        "MINAVAIL": "1",
        "REPLICAS": "2",
        "AVAILABLE": "1",
        "SCHEDULED": "2",
        "UPDATED": "0",
    }
    titles, row = await columns(defined, "podgangs.scheduler.grove.io", "-n", namespace)
    assert dict(zip(titles[1:-1], row[1:-1], strict=True)) == {
        "PHASE": "Starting",
        "READY": "True",
        "REASON": "AllReplicasAvailable",
    }


async def test_topologies_are_listed_with_their_levels(defined: Cluster, namespace: str) -> None:
    for name, short in (("grove-topology-status", "ct"), ("grove-binding", "ctb")):
        body = manifest(name)
        await create(defined.api, namespace, body)
        path = f"{place(body['kind'], namespace)}/{body['metadata']['name']}"
        try:
            await defined.api.do(
                "PATCH", f"{path}/status", {"status": body["status"]}, patch="merge"
            )
            titles, row = await columns(defined, short)
            assert titles == ["NAME", "READY", "REASON", "DOMAINS", "AGE"]
            assert row[0] == body["metadata"]["name"]
            assert body["spec"]["levels"][0]["domain"] in row[-2]
        finally:
            await defined.api.do("DELETE", path)


async def test_all_kinds_of_ours_are_listed_by_one_word(defined: Cluster, namespace: str) -> None:
    for name in ("seed-003-ondelete", "grove-podgang"):
        await create(defined.api, namespace, manifest(name))
    said = await defined.kubectl("get", "trellis", "-n", namespace, "-o", "name")
    assert said.split() == [
        "podcliqueset.grove.io/training-workload",
        "podgang.scheduler.grove.io/everything-0",
    ]
