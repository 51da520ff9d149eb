# SPDX-License-Identifier: Apache-2.0
"""Sets that Grove made, of several releases: our operator takes them over, and not one of their
pods is touched. Then they live on as if they had always been ours."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.embedded.nodes.simulation import simulated
from tests.e2e.workloads.builders import (
    IN_ORDER,
    a_clique,
    a_set,
    clique_of,
    workload1,
    workload2,
)
from tests.e2e.workloads.estate import Case, Estate, Taken, Waiters, define, made_by_grove, maps
from tests.e2e.workloads.grounds import own_cluster
from tests.e2e.workloads.grove_tree import CURRENT, NEWER, OLDER, Unfinished
from tests.e2e.workloads.world import (
    CHILDREN,
    CLIQUES,
    FLEET,
    GANGS,
    GROUPS,
    PATIENCE_SECONDS,
    PODS,
    SERVICES,
    SETS,
    is_true,
    name_of,
    uid_of,
)
from tests.support.waiting import eventually
from trellis.embedded.nodes.waiters import START_ORDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

    from tests.e2e.workloads.world import Json, World

GANG = "grove.io/podgang"
CLIQUE = "grove.io/podclique"
HASH = "grove.io/pod-template-hash"
ALIASES = "trellis.dev/template-hash-aliases"
ROLE = "grove.io:pcs:wl"
RIGHTS = ("roles", "rolebindings")


def ordered() -> Json:
    return workload2(cliqueStartupType=IN_ORDER)


def single(name: str, **template: Any) -> Json:
    return a_set("wl", a_clique(name, 3, 2), replicas=2, **template)


def scaled_by_load() -> Json:
    made = ordered()
    config = {"minReplicas": 1, "maxReplicas": 6}
    clique_of(made, "pc-a")["spec"]["autoScalingConfig"] = config
    clique_of(made, "pc-b").update(labels={"team": "one"}, annotations={"note": "two"})
    return made


FINISHED = {
    # The name of the clique ends like an index, and so do those of its pods, almost.
    "an older one": Case(
        release=OLDER, body=single("worker-1", topologyConstraint={"packDomain": "rack"})
    ),
    "an older one with order": Case(release=OLDER, body=ordered()),
    "a current one": Case(release=CURRENT, body=single("worker-1")),
    "a current one without scaled gangs": Case(release=CURRENT, body=workload1()),
    "a current one with order, scaled and with holes": Case(
        release=CURRENT,
        body=scaled_by_load(),
        live={"wl-0-pc-a": (0, 2, 3), "wl-0-sg-x": (0, 1, 2)},
    ),
    "a newer one": Case(release=NEWER, body=workload1()),
    "a newer one with order": Case(release=NEWER, body=ordered()),
}
HALF_MADE = {
    "some pods are missing and others are not listed": Case(
        release=CURRENT,
        body=single("w"),
        unfinished=Unfinished(
            pods=frozenset({"wl-0-w-1"}), gated=frozenset({"wl-0-w-2", "wl-1-w-0"})
        ),
    ),
    "all pods are gated and there is no gang": Case(
        release=CURRENT,
        body=ordered(),
        unfinished=Unfinished(
            cliques=frozenset({"wl-0-sg-x-1-pc-c"}),
            pods=frozenset({"wl-0-sg-x-0-pc-c-1"}),
            gated=frozenset(
                {
                    "wl-0-pc-a-0",
                    "wl-0-pc-a-1",
                    "wl-0-sg-x-0-pc-b-0",
                    "wl-0-sg-x-0-pc-c-0",
                    "wl-0-sg-x-0-pc-c-2",
                    "wl-0-sg-x-1-pc-b-0",
                }
            ),
            gangs=True,
        ),
    ),
    "a scaled gang of a newer one": Case(
        release=NEWER,
        body=workload2(),
        unfinished=Unfinished(
            pods=frozenset({"wl-0-sg-x-1-pc-c-0"}), gated=frozenset({"wl-0-sg-x-1-pc-b-0"})
        ),
    ),
}
LEFT_ALONE = "nobody does anything to it"
DELETED = "it is being deleted"
CASES = {
    **FINISHED,
    **HALF_MADE,
    LEFT_ALONE: Case(release=NEWER, body=ordered()),
    DELETED: Case(release=OLDER, body=ordered(), unfinished=Unfinished(deleted=True)),
}


@pytest.fixture(scope="module")
async def estate(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Estate]:
    """All trees are made before our operator is there, and taken over at once."""
    async with AsyncExitStack() as stack:
        ground = await stack.enter_async_context(own_cluster(request))
        await define(ground)
        waiters = {START_ORDER: Waiters(ground)}
        await stack.enter_async_context(simulated(ground, FLEET, waiters=waiters))
        trees = {
            name: await stack.enter_async_context(made_by_grove(ground, case))
            for name, case in CASES.items()
        }
        found = Estate(ground, tmp_path_factory.mktemp("operator"), trees)
        await found.start()
        stack.push_async_callback(found.stop)
        yield found


async def until_taken_over(taken: Taken) -> None:
    """Waits until everything says of itself, truthfully, that it is ours and well."""
    world = taken.world
    await world.until(SETS, "wl", is_well, "to be taken over and well")
    await until_each(lambda: world.ours(CLIQUES), is_full, "each PodClique to have all its pods")
    await until_each(lambda: world.ours(GROUPS), is_available, "each group to be available")
    await until_each(lambda: our_gangs(world), runs, "each gang to run")


async def until_each(
    listed: Callable[[], Awaitable[list[Json]]], holds: Callable[[Json], bool], what: str
) -> None:
    """Of what is there when it is looked at: a replica that was scaled in may go meanwhile."""

    async def look() -> bool:
        with suppress(KeyError):
            return all(map(holds, await listed()))
        return False

    await eventually(look, what, PATIENCE_SECONDS)


def is_well(found: Json) -> bool:
    status = found["status"]
    return bool(
        _is_observed(found)
        and _counts(status, "replicas", "availableReplicas", "updatedReplicas")
        == {found["spec"]["replicas"]}
        and status["currentGenerationHash"].startswith("v1-")
        and {one["phase"] for one in status["podGangStatuses"]} == {"Running"}
        and is_true(found, "Ready")
    )


def is_full(found: Json) -> bool:
    status, own = found["status"], found["metadata"]["labels"][HASH]
    counted = ("replicas", "readyReplicas", "scheduledReplicas", "updatedReplicas")
    return bool(
        _is_observed(found)
        and _counts(status, *counted) == {found["spec"]["replicas"]}
        and status["currentPodTemplateHash"] == own
        and own.startswith("v1-")
    )


def is_available(found: Json) -> bool:
    status = found["status"]
    counted = ("replicas", "availableReplicas", "scheduledReplicas", "updatedReplicas")
    return bool(
        _is_observed(found)
        and _counts(status, *counted) == {found["spec"]["replicas"]}
        and status["currentPodCliqueSetGenerationHash"].startswith("v1-")
    )


def runs(found: Json) -> bool:
    return bool(found["status"]["phase"] == "Running" and is_true(found, "Ready"))


def _is_observed(found: Json) -> bool:
    status = found["status"]
    observed = status.get("observedGeneration") == found["metadata"]["generation"]
    return observed and not status.get("lastErrors")


def _counts(status: Json, *names: str) -> set[int]:
    return {status[name] for name in names}


async def our_gangs(world: World) -> list[Json]:
    """Those that we keep; gangs of Grove's names have none of our labels."""
    return await world.all(GANGS, "grove.io/pcs-name")


async def until_all_are_listed(world: World) -> None:
    """Every live pod, once, by the gang of its PodClique; one that is no longer needed is gone."""

    async def look() -> bool:
        listed = sorted(
            (name_of(gang), group["name"], reference["name"])
            for gang in await our_gangs(world)
            for group in gang["spec"]["podgroups"]
            for reference in group["podReferences"]
        )
        gangs = {name_of(one): one["metadata"]["labels"][GANG] for one in await world.ours(CLIQUES)}
        owners = {name_of(pod): pod["metadata"]["labels"][CLIQUE] for pod in await world.pods()}
        # A PodClique may be gone before its pods are.
        return listed == sorted((gangs.get(own, ""), own, pod) for pod, own in owners.items())

    await eventually(look, "gangs that list all pods and no others", PATIENCE_SECONDS)


def versions(found: Iterable[Json]) -> dict[str, str]:
    return {name_of(one): one["metadata"]["resourceVersion"] for one in found}


async def assert_untouched(taken: Taken, besides: Iterable[str] = ()) -> None:
    """Not one byte of the pods of Grove's has changed, but of those."""
    kept = {name: pod for name, pod in taken.pods.items() if name not in besides}
    present = versions(await taken.world.all(PODS))
    assert versions(kept.values()).items() <= present.items()
    assert taken.pods_seen.names().isdisjoint(kept)
    assert taken.cliques_seen.names("DELETED") == set()
    assert taken.groups_seen.names("DELETED") == set()
    assert versions((await maps(taken.world)).values()) == versions(taken.maps.values())


def waits(taken: Taken) -> bool:
    return IN_ORDER in taken.case.body["spec"]["template"].values()


def left_over(taken: Taken) -> str:
    """The Service of a replica that was scaled away."""
    return f"wl-{taken.case.body['spec']['replicas']}"


async def assert_kept(taken: Taken) -> None:
    """All that pods of Grove's may need is there, and the same; what nobody needs is gone."""
    world = taken.world
    for (kind, name), before in taken.children.items():
        needed = waits(taken) if kind in RIGHTS else (kind, name) != (SERVICES, left_over(taken))
        if needed:
            assert uid_of(await world.get(kind, name)) == uid_of(before), name
        else:
            await until_gone(world, kind, name)
    if waits(taken):
        await assert_rights(world, resources=["podcliques", "pods"], accounts=["default", "wl"])


async def until_gone(world: World, kind: str, name: str) -> None:
    async def look() -> bool:
        return not await world.exists(kind, name)

    await eventually(look, f"the end of {kind} {name}", PATIENCE_SECONDS)


async def assert_rights(world: World, resources: list[str], accounts: list[str]) -> None:
    role, binding = await world.get("roles", ROLE), await world.get("rolebindings", ROLE)
    assert [rule["resources"][0] for rule in role["rules"]] == resources
    assert [subject["name"] for subject in binding["subjects"]] == accounts


async def assert_hashes_adopted(taken: Taken) -> None:
    """Theirs is an alias of ours."""
    for clique in await taken.world.ours(CLIQUES):
        before = taken.children[CLIQUES, name_of(clique)]
        theirs, ours = (one["metadata"]["labels"][HASH] for one in (before, clique))
        aliases = clique["metadata"]["annotations"][ALIASES]
        assert aliases == f'{{"{ours}":["{theirs}"]}}'


async def replace_one(taken: Taken) -> None:
    """A pod that is deleted comes back as one of ours, at the same index, and no other is."""
    world = taken.world
    victim = min(taken.pods.values(), key=lambda pod: str(pod["spec"]["hostname"]))
    host = victim["spec"]["hostname"]
    await world.kill([victim])
    found: list[Json] = []

    async def look() -> bool:
        live = [pod for pod in await world.pods() if pod["spec"]["hostname"] == host]
        found[:] = [pod for pod in live if uid_of(pod) != uid_of(victim)]
        return len(found) == len(live) == 1 and is_true(found[0], "Ready")

    await eventually(look, f"another pod as {host}", PATIENCE_SECONDS)
    labels = found[0]["metadata"]["labels"]
    stem, _, suffix = name_of(found[0]).rpartition("-")
    assert (stem, len(suffix)) == (host, 5)
    assert (labels[GANG], labels["grove.io/pcs-name"]) == ("wl-0", "wl")
    await world.until_gone([victim])
    await until_taken_over(taken)
    await assert_untouched(taken, {name_of(victim)})
    await until_all_are_listed(world)


def owner_kind(found: Json) -> str:
    (owner,) = found["metadata"]["ownerReferences"]
    return str(owner["kind"])


async def scale_out_and_in(taken: Taken) -> None:
    """A PodClique and all scaling groups: what was there before is left alone."""
    world, before = taken.world, await taken.world.uids()
    groups = await world.ours(GROUPS)
    alone = [one for one in await world.ours(CLIQUES) if owner_kind(one) == "PodCliqueSet"]
    for change in (1, 0):
        targets = [(GROUPS, one) for one in groups] + [(CLIQUES, min(alone, key=name_of))]
        for kind, target in targets:
            await world.scale(kind, name_of(target), target["spec"]["replicas"] + change)
        await world.until_ready(len(before) + change * (1 + 4 * len(groups)))
        await until_taken_over(taken)
        await until_all_are_listed(world)
        assert before <= await world.uids()
    assert before == await world.uids()


async def add_and_remove_a_replica(taken: Taken) -> None:
    """Of the set, whose spec passes our webhooks: they let all be that Grove's let in."""
    world, before = taken.world, await taken.world.uids()
    replicas = taken.case.body["spec"]["replicas"]
    for wanted in (replicas + 1, replicas):
        await world.scale(SETS, "wl", wanted)
        await until_taken_over(taken)
        await world.until_count(SERVICES, wanted)
        assert before <= await world.uids()
    await world.until_ready(len(before))
    assert before == await world.uids()


async def replace_all(taken: Taken) -> None:
    """When the last pod of Grove's goes, so does what it alone needed."""
    world = taken.world
    theirs = [pod for pod in await world.pods() if name_of(pod) in taken.pods]
    await world.kill(theirs)
    await world.until_gone(theirs)
    await world.until_ready(len(taken.pods))
    await until_taken_over(taken)
    await until_all_are_listed(world)
    await world.until_count(GANGS, len(await our_gangs(world)))
    if waits(taken):
        await world.until("roles", ROLE, lambda role: len(role["rules"]) == 1, "to grant less")
        await assert_rights(world, resources=["podcliques"], accounts=["default"])


async def until_nothing_is_left(world: World) -> None:
    """Of the set, for all the finalizers of Grove's."""

    async def look() -> bool:
        left = [len(await world.ours(kind)) for kind in CHILDREN]
        return not (any(left) or await world.all(SETS) or await maps(world))

    await eventually(look, "nothing to be left of the set", PATIENCE_SECONDS)


@pytest.mark.parametrize("name", FINISHED)
async def test_a_tree_of_groves_is_taken_over_and_lives_on(estate: Estate, name: str) -> None:
    taken = estate.trees[name]
    await until_taken_over(taken)
    assert taken.pods_seen.seen == []
    await assert_untouched(taken)
    await assert_kept(taken)
    await assert_hashes_adopted(taken)
    await until_all_are_listed(taken.world)
    await replace_one(taken)
    await assert_kept(taken)
    await scale_out_and_in(taken)
    await add_and_remove_a_replica(taken)
    await replace_all(taken)
    await taken.world.delete(SETS, "wl")
    await until_nothing_is_left(taken.world)


@pytest.mark.parametrize("name", HALF_MADE)
async def test_a_tree_that_grove_did_not_finish_is_finished(estate: Estate, name: str) -> None:
    taken = estate.trees[name]
    gated = {
        name
        for name, pod in taken.pods.items()
        if pod["spec"]["hostname"] in taken.case.unfinished.gated
    }
    await until_taken_over(taken)
    await assert_untouched(taken, besides=gated)
    assert taken.pods_seen.names("DELETED") == set()
    await assert_kept(taken)
    await until_all_are_listed(taken.world)
    await taken.world.delete(SETS, "wl")
    await until_nothing_is_left(taken.world)


async def test_a_tree_that_grove_did_not_remove_is_removed(estate: Estate) -> None:
    await until_nothing_is_left(estate.trees[DELETED].world)


async def test_an_operator_that_starts_again_writes_nothing(estate: Estate) -> None:
    taken = estate.trees[LEFT_ALONE]
    await until_taken_over(taken)
    before = await stored(taken.world)
    await estate.stop()
    await estate.start()
    # What is made now comes after all that there was to look at.
    fresh = a_set("fresh", a_clique("w"))
    await taken.world.make(SETS, fresh)
    await taken.world.until(SETS, "fresh", lambda found: is_true(found, "Ready"), "to be ready")
    assert (await stored(taken.world)).items() >= before.items()
    assert taken.pods_seen.names().isdisjoint(taken.pods)


async def stored(world: World) -> Mapping[tuple[str, str], str]:
    """The version of everything that is made for sets, and of the sets."""
    return {
        (kind, name): version
        for kind in (SETS, *CHILDREN)
        for name, version in versions(await world.all(kind)).items()
    }
