# SPDX-License-Identifier: Apache-2.0
"""The managed topology and what KAI knows of it, on a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.topology.kai import KAI, installed
from tests.e2e.topology.operator import ENOUGH, operator
from tests.e2e.topology.seen import (
    KAI_PATH,
    MANAGED,
    OWN_PATH,
    READY,
    TOPOLOGIES,
    conditions,
    domains,
    labels,
    message,
    until,
    until_gone,
    until_ready,
)
from tests.support.api import Request
from tests.support.topologies import KEYS, configured
from tests.support.waiting import eventually
from trellis.api.config.types import Topology

if TYPE_CHECKING:
    from tests.e2e.topology.operator import Account, Running
    from tests.support.api import Api
    from tests.support.cluster import Cluster
    from trellis.api.permissions import Grant

ALL = configured("numa", "host", "zone", "rack")
RACKS = configured("rack", "host")
OFF = Topology(enabled=False)
FAILED = ("False", "KAITopologyCreationOrUpdateFailed")
MANAGED_BY = "app.kubernetes.io/managed-by"


async def events(api: Api, uid: str) -> list[str]:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    found = (await api.do("GET", path))["items"]
    return [event["reason"] for event in found if event["regarding"].get("uid") == uid]


async def until_event(api: Api, uid: str, reason: str) -> None:
    async def told() -> bool:
        return reason in await events(api, uid)

    await eventually(told, f"the event {reason}")


@pytest.mark.usefixtures("kai")
async def test_it_is_made_as_configured_and_told_to_kai(defined: Cluster, who: Account) -> None:
    async with operator(who, ALL):
        own = await until_ready(defined.api)
        assert domains(own) == ["zone", "rack", "host", "numa"]
        kai = await defined.api.do("GET", KAI_PATH)
        assert labels(kai) == [KEYS["zone"], KEYS["rack"], KEYS["host"]]
        (owner,) = kai["metadata"]["ownerReferences"]
        assert owner["controller"]
        assert (owner["kind"], owner["name"]) == ("ClusterTopology", MANAGED)
        assert owner["uid"] == uid(own)
        assert message(own).endswith("has zone, rack, host, and leaves out numa")
        await until_event(defined.api, uid(own), "TopologyReady")
        _, row = (await defined.kubectl("get", "ct", MANAGED)).splitlines()
        assert row.split()[:3] == [MANAGED, "True", "TopologyReady"]


async def wake(api: Api, running: Running, number: int) -> None:
    """Has the controller look again, and waits until it has."""
    before = running.runs()
    note = {"metadata": {"annotations": {"example.com/poke": str(number)}}}
    await api.do("PATCH", KAI_PATH, note, patch="merge")

    async def looked() -> bool:
        return running.runs() > before

    await eventually(looked, "the controller to look")


@pytest.mark.usefixtures("kai")
async def test_a_settled_topology_is_never_written(defined: Cluster, who: Account) -> None:
    async with operator(who, RACKS) as running:
        own = await until_ready(defined.api)
        for number in range(10):
            await wake(defined.api, running, number)
        assert await defined.api.do("GET", OWN_PATH) == own
    settled = await defined.api.do("GET", KAI_PATH)
    async with operator(who, RACKS) as running:

        async def looked() -> bool:
            return running.runs() > 0

        await eventually(looked, "the controller to look")
        assert await defined.api.do("GET", OWN_PATH) == own
        assert await defined.api.do("GET", KAI_PATH) == settled


@pytest.mark.usefixtures("kai")
async def test_what_kai_lost_is_made_again(defined: Cluster, who: Account) -> None:
    api = defined.api
    async with operator(who, RACKS):
        own = await until_ready(api)
        lost = await api.do("GET", KAI_PATH)
        await api.do("DELETE", KAI_PATH)
        made = await until(api, KAI_PATH, lambda found: uid(found) != uid(lost), "its return")
        assert labels(made) == labels(lost)
        await until_event(api, uid(own), "TopologyInSync")


@pytest.mark.usefixtures("kai")
async def test_what_was_changed_while_nobody_watched_is_put_back(
    defined: Cluster, who: Account
) -> None:
    api = defined.api
    async with operator(who, RACKS):
        await until_ready(api)
    # As `kubectl replace --force` does it, since KAI's levels cannot be changed in place.
    right = await api.do("GET", KAI_PATH)
    await api.do("DELETE", KAI_PATH)
    owners = {"ownerReferences": right["metadata"]["ownerReferences"]}
    await api.do("POST", KAI, a_kai_topology(**owners))
    async with operator(who, RACKS):
        await until(api, KAI_PATH, lambda found: labels(found) == labels(right), "its levels")
        await until_ready(api)


@pytest.mark.usefixtures("kai")
async def test_labels_and_levels_are_put_back_at_once(defined: Cluster, who: Account) -> None:
    api = defined.api
    async with operator(who, RACKS):
        own = await until_ready(api)
        bare = {"metadata": {"labels": {MANAGED_BY: None}}}
        await api.do("PATCH", KAI_PATH, bare, patch="merge")
        await until(
            api,
            KAI_PATH,
            lambda found: MANAGED_BY in found["metadata"].get("labels", {}),
            "its label",
        )
        fewer = {"spec": {"levels": own["spec"]["levels"][:1]}}
        await api.do("PATCH", OWN_PATH, fewer, patch="merge")
        await until(api, OWN_PATH, lambda found: domains(found) == ["rack", "host"], "its levels")
        await until_ready(api)
        assert labels(await api.do("GET", KAI_PATH)) == [KEYS["rack"], KEYS["host"]]


@pytest.mark.usefixtures("kai")
async def test_a_deleted_topology_is_made_again_and_so_is_kais(
    defined: Cluster, who: Account
) -> None:
    api = defined.api
    async with operator(who, RACKS):
        lost = await until_ready(api)
        await api.do("DELETE", OWN_PATH)
        await until(api, OWN_PATH, lambda found: uid(found) != uid(lost), "a new topology")
        own = await until_ready(api)
        (owner,) = (await api.do("GET", KAI_PATH))["metadata"]["ownerReferences"]
        assert owner["uid"] == uid(own)


@pytest.mark.usefixtures("kai")
async def test_levels_configured_anew_reach_kai(defined: Cluster, who: Account) -> None:
    api = defined.api
    async with operator(who, RACKS):
        await until_ready(api)
        before = await api.do("GET", KAI_PATH)
    async with operator(who, ALL):
        await until(
            api, OWN_PATH, lambda found: found["metadata"]["generation"] == 2, "the new levels"
        )
        own = await until_ready(api)
        after = await api.do("GET", KAI_PATH)
        assert domains(own) == ["zone", "rack", "host", "numa"]
        assert labels(after) == [KEYS["zone"], *labels(before)]
        assert uid(after) != uid(before)


@pytest.mark.usefixtures("kai")
async def test_a_topology_of_somebody_else_is_not_touched(defined: Cluster, who: Account) -> None:
    api = defined.api
    theirs = await api.do("POST", KAI, a_kai_topology())
    async with operator(who, RACKS):
        own = await until(api, OWN_PATH, conditions, "its status")
        assert conditions(own) == {
            "Ready": FAILED,
            "Reconciling": ("False", "NameConflict"),
            "Stalled": ("True", "NameConflict"),
        }
        (error,) = own["status"]["lastErrors"]
        assert error["code"] == "KAI_TOPOLOGY_CREATE_ERROR"
        assert "belongs to nobody" in error["description"]
        assert await api.do("GET", KAI_PATH) == theirs
        await until_event(api, uid(own), "KAITopologyCreationOrUpdateFailed")
        await api.do("DELETE", KAI_PATH)
        own = await until_ready(api)
        assert "lastErrors" not in own["status"]
        assert labels(await api.do("GET", KAI_PATH)) == [KEYS["rack"], KEYS["host"]]


async def test_without_kai_it_is_ready_and_kai_is_told_once_it_comes(
    defined: Cluster, who: Account
) -> None:
    api = defined.api
    async with operator(who, RACKS):
        own = await until_ready(api)
        assert message(own).startswith("rack, host; KAI is not installed here")
        async with installed(api):
            kai = await until(api, KAI_PATH, labels, "KAI's Topology")
            assert labels(kai) == [KEYS["rack"], KEYS["host"]]
            await until(
                api, OWN_PATH, lambda found: message(found).startswith("KAI's"), "it to be told"
            )
        # KAI is removed again.
        own = await until(
            api, OWN_PATH, lambda found: "not installed" in message(found), "it to be told"
        )
        assert conditions(own) == READY


@pytest.mark.usefixtures("kai")
async def test_a_permission_that_is_missing_is_told_and_its_grant_noticed(
    defined: Cluster, who: Account
) -> None:
    api = defined.api
    await who.allow(api, [each for each in ENOUGH if not _lets_create_for_kai(each)])
    async with operator(who, RACKS):
        own = await until(api, OWN_PATH, conditions, "its status")
        assert conditions(own) == {
            "Ready": FAILED,
            "Reconciling": ("False", "Forbidden"),
            "Stalled": ("True", "Forbidden"),
        }
        assert "cannot create resource" in own["status"]["lastErrors"][0]["description"]
        await who.allow(api, ENOUGH)
        await until_ready(api)


@pytest.mark.usefixtures("kai")
async def test_switched_off_it_goes_with_kais_and_no_other_does(
    defined: Cluster, who: Account
) -> None:
    api = defined.api
    async with operator(who, RACKS):
        own = await until_ready(api)
    mine = {"metadata": {"name": "mine"}, "spec": own["spec"]}
    await api.do("POST", TOPOLOGIES, mine | {"apiVersion": own["apiVersion"], "kind": own["kind"]})
    async with operator(who, OFF):
        await until_gone(api, OWN_PATH)
        await until_gone(api, KAI_PATH)
        assert await api.exists(f"{TOPOLOGIES}/mine")


async def test_the_operators_account_may_touch_no_other_topology(
    defined: Cluster, who: Account
) -> None:
    body = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": "mine"},
        "spec": {"levels": [{"domain": "rack", "key": "rack"}]},
    }
    await defined.api.do("POST", TOPOLOGIES, body)
    path = f"{TOPOLOGIES}/mine"
    assert (await who.api.send(Request(method="GET", path=path))).status == 403
    assert (await who.api.send(Request(method="DELETE", path=path))).status == 403
    assert (await who.api.send(Request(method="GET", path=TOPOLOGIES))).status == 403


def a_kai_topology(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kai.scheduler/v1alpha1",
        "kind": "Topology",
        "metadata": {"name": MANAGED, **metadata},
        "spec": {"levels": [{"nodeLabel": "example.com/theirs"}]},
    }


def uid(body: dict[str, Any]) -> str:
    return str(body["metadata"]["uid"])


def _lets_create_for_kai(grant: Grant) -> bool:
    return grant.group == "kai.scheduler" and "create" in grant.verbs
