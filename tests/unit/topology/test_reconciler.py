# SPDX-License-Identifier: Apache-2.0
"""The whole controller on a cluster in memory: what it brings about, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.topologies import KEYS, configured
from tests.support.virtual import run, virtual
from tests.unit.topology.world import KAI, MANAGED, TOPOLOGIES, World, a_world, operator, settled
from trellis.api.config.types import Topology
from trellis.kube.errors import Failure, Forbidden, Invalid

RACKS = configured("host", "rack")
RACK_LABELS = [KEYS["rack"], KEYS["host"]]
READY = {
    "Ready": ("True", "TopologyReady"),
    "Reconciling": ("False", "TopologyReady"),
    "Stalled": ("False", "TopologyReady"),
}
OFF = Topology(enabled=False)


@virtual
async def test_it_is_made_told_to_kai_and_then_left_alone() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        assert world.domains() == ["rack", "host"]
        assert world.kai_labels() == RACK_LABELS
        assert world.conditions() == READY
        assert world.events() == ["TopologyReady"]
        assert world.writes() == [
            "POST clustertopologies",
            "POST topologies",
            f"PATCH {MANAGED}/status",
        ]
        await settled()
        assert len(world.writes()) == 3
    async with operator(world, RACKS):
        assert len(world.writes()) == 3, "a restart writes nothing"


@virtual
async def test_its_status_tells_the_generation() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        (found,) = world.api.all("clustertopologies")
        assert world.status().observed_generation == found["metadata"]["generation"]


@virtual
async def test_changed_levels_are_put_back_and_kai_follows() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        level = {"domain": "zone", "key": KEYS["zone"]}
        await world.api.do("PATCH", f"{TOPOLOGIES}/{MANAGED}", {"spec": {"levels": [level]}})
        await settled()
        assert world.domains() == ["rack", "host"]
        assert world.kai_labels() == RACK_LABELS


@virtual
async def test_levels_configured_anew_reach_kai_by_a_new_topology() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        (before,) = world.api.all("topologies")
    async with operator(world, configured("zone", "rack", "host"), seed=2):
        (after,) = world.api.all("topologies")
        assert world.kai_labels() == [KEYS["zone"], *RACK_LABELS]
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        assert world.conditions() == READY
        assert world.events() == ["TopologyReady", "CreatingChildren", "TopologyReady"]


@virtual
async def test_a_deleted_topology_is_made_again_with_what_kai_has_of_it() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        # As the cluster's collector leaves it for a moment: KAI's is there, its owner is not.
        await world.api.do("DELETE", f"{TOPOLOGIES}/{MANAGED}")
        await settled()
        assert world.conditions()["Ready"] == ("Unknown", "CreatingChildren")
        await world.api.do("DELETE", f"{KAI}/{MANAGED}")
        await settled()
        assert world.conditions() == READY
        assert world.kai_labels() == RACK_LABELS


@virtual
async def test_what_kai_lost_is_made_again_and_told() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        await world.api.do("DELETE", f"{KAI}/{MANAGED}")
        await settled()
        assert world.kai_labels() == RACK_LABELS
        assert world.events() == ["TopologyReady", "TopologyInSync"]


@virtual
async def test_labels_taken_off_kais_topology_are_put_back() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        label = "app.kubernetes.io/managed-by"
        patch = {"metadata": {"labels": {label: None, "theirs": "stays"}}}
        await world.api.do("PATCH", f"{KAI}/{MANAGED}", patch)
        await settled()
        (found,) = world.api.all("topologies")
        assert found["metadata"]["labels"] == {label: "grove-operator", "theirs": "stays"}


def a_kai_body(**metadata: Any) -> dict[str, Any]:
    levels = [{"nodeLabel": "example.com/theirs"}]
    return {"metadata": {"name": MANAGED, **metadata}, "spec": {"levels": levels}}


@virtual
async def test_a_topology_of_somebody_else_is_never_touched_and_not_in_the_way_once_gone() -> None:
    world = await a_world()
    theirs = await world.api.do("POST", KAI, a_kai_body())
    async with operator(world, RACKS):
        assert world.conditions() == {
            "Ready": ("False", "KAITopologyCreationOrUpdateFailed"),
            "Reconciling": ("False", "NameConflict"),
            "Stalled": ("True", "NameConflict"),
        }
        codes = [error.code for error in world.status().last_errors]
        assert codes == ["KAI_TOPOLOGY_CREATE_ERROR"]
        assert world.api.all("topologies") == [theirs]
        assert "POST topologies" not in world.writes()
        await world.api.do("DELETE", f"{KAI}/{MANAGED}")
        await settled()
        assert world.conditions() == READY
        assert world.status().last_errors == ()


@virtual
async def test_one_that_is_going_is_waited_for() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        hold = {"metadata": {"finalizers": ["example.com/hold"]}}
        await world.api.do("PATCH", f"{KAI}/{MANAGED}", hold)
        await world.api.do("DELETE", f"{KAI}/{MANAGED}")
        await settled()
        assert world.conditions()["Ready"] == ("Unknown", "CreatingChildren")
        await world.api.do("PATCH", f"{KAI}/{MANAGED}", {"metadata": {"finalizers": None}})
        await settled()
        assert world.conditions() == READY
        assert world.kai_labels() == RACK_LABELS


@virtual
async def test_without_kai_it_is_ready_and_says_so_until_kai_comes() -> None:
    world = await a_world(kai=False)
    async with operator(world, RACKS):
        assert world.conditions() == READY
        assert "KAI is not installed here" in world.message()
        settled_writes = len(world.writes())
        await settled()
        assert len(world.writes()) == settled_writes
        await world.install_kai()
        await settled()
        assert world.kai_labels() == RACK_LABELS
        assert world.conditions() == READY
        assert "KAI's Topology grove-topology has rack, host" in world.message()


@virtual
async def test_while_kais_topologies_cannot_be_read_nothing_is_claimed() -> None:
    world = await a_world()
    world.blind = True
    async with operator(world, RACKS):
        assert world.conditions() == {
            "Ready": ("Unknown", "Retrying"),
            "Reconciling": ("True", "Retrying"),
            "Stalled": ("False", "Retrying"),
        }
        world.blind = False
        await settled()
        assert world.conditions() == READY
        assert world.kai_labels() == RACK_LABELS


@virtual
async def test_a_change_of_levels_is_guarded_by_the_version_that_was_read() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        pass
    async with operator(world, configured("zone"), seed=2):
        own = f"{TOPOLOGIES}/{MANAGED}"
        (patch,) = [each for each in world.api.requests if each.path == own]
        assert b'"resourceVersion"' in (patch.body or b"")


@virtual
async def test_nothing_is_made_before_its_own_kind_is_there() -> None:
    world = World()
    async with operator(world, RACKS):
        assert world.writes() == []
        await world.define("clustertopologies", "grove.io")
        await settled()
        assert world.domains() == ["rack", "host"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Forbidden("POST", Failure(code=403, message="no")), "Forbidden"),
        (Invalid("POST", Failure(code=422, message="odd")), "Refused"),
    ],
)
def test_what_the_server_refuses_is_told_and_tried_again(error: Any, cause: str) -> None:
    run(_refused(error, cause))


async def _refused(error: Any, cause: str) -> None:
    world = await a_world()
    world.refusals[KAI] = error
    async with operator(world, RACKS):
        assert world.conditions()["Ready"] == ("False", "KAITopologyCreationOrUpdateFailed")
        assert world.conditions()["Stalled"] == ("True", cause)
        assert world.events() == ["KAITopologyCreationOrUpdateFailed"]
        told = world.writes().count(f"PATCH {MANAGED}/status")
        assert told == 1, "trying in vain writes no status again"
        world.refusals.clear()
        await settled()
        await settled()
        await settled()
        assert world.conditions() == READY
        assert world.kai_labels() == RACK_LABELS


@virtual
async def test_switched_off_it_goes_and_no_other_does() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        pass
    level = {"domain": "rack", "key": "rack"}
    mine = {"metadata": {"name": "mine"}, "spec": {"levels": [level]}}
    await world.api.do("POST", TOPOLOGIES, mine)
    async with operator(world, OFF):
        assert world.api.names("clustertopologies") == ["mine"]
        (deletion,) = [each for each in world.api.requests if each.method == "DELETE"]
        assert b'"uid"' in (deletion.body or b"")
        settled_writes = len(world.writes())
        await settled()
        assert len(world.writes()) == settled_writes


@virtual
async def test_that_it_cannot_be_deleted_stops_nobody() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        pass
    world.refusals[TOPOLOGIES] = Forbidden("DELETE", Failure(code=403, message="no"))
    async with operator(world, OFF):
        assert world.domains() == ["rack", "host"]
        world.refusals.clear()
        await settled()
        await settled()
        assert world.managed() is None


@virtual
async def test_enabled_without_levels_leaves_levels_to_bindings_and_removes_nothing() -> None:
    world = await a_world()
    bindings_only = Topology(enabled=True)
    async with operator(world, bindings_only):
        assert world.writes() == []
    async with operator(world, RACKS):
        pass
    async with operator(world, bindings_only):
        assert world.domains() == ["rack", "host"]


@virtual
async def test_topologies_of_users_are_not_touched() -> None:
    world = await a_world()
    level = {"domain": "rack", "key": "rack"}
    mine = {"metadata": {"name": "mine"}, "spec": {"levels": [level]}}
    stored = await world.api.do("POST", TOPOLOGIES, mine)
    async with operator(world, RACKS):
        assert stored in world.api.all("clustertopologies")
        assert world.api.names("topologies") == [MANAGED]


def outcome(world: World) -> tuple[list[str], list[str], dict[str, tuple[str, str]]]:
    return world.domains(), world.kai_labels(), world.conditions()


@pytest.mark.parametrize("after", [False, True], ids=["before it was done", "after it was done"])
@pytest.mark.parametrize("lost", range(8))
def test_it_ends_up_the_same_when_any_write_is_lost(lost: int, after: bool) -> None:
    async def story() -> None:
        world = await a_world()
        world.lost, world.lost_after = lost, after
        async with operator(world, RACKS):
            pass
        async with operator(world, configured("zone", "rack")):
            assert world.domains() == ["zone", "rack"]
            assert world.kai_labels() == [KEYS["zone"], KEYS["rack"]]
            assert world.conditions() == READY

    run(story())


@pytest.mark.parametrize("seed", range(5))
def test_two_operators_at_once_end_where_one_does(seed: int) -> None:
    async def story() -> None:
        world = await a_world()
        async with operator(world, RACKS, seed), operator(world, RACKS, seed + 100):
            await world.api.do("DELETE", f"{KAI}/{MANAGED}")
            await settled()
            assert outcome(world) == (["rack", "host"], RACK_LABELS, READY)

    run(story())


@virtual
async def test_stale_watches_lead_to_nothing_twice() -> None:
    world = await a_world()
    async with operator(world, RACKS):
        world.api.hold()
        await world.api.do("DELETE", f"{KAI}/{MANAGED}")
        await settled()
        assert world.api.names("topologies") == []
        await world.api.release()
        await settled()
        assert outcome(world) == (["rack", "host"], RACK_LABELS, READY)
        assert world.writes().count("POST topologies") == 2
