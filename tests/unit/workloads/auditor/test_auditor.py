# SPDX-License-Identifier: Apache-2.0
"""The auditor counts what does not hold, once, and only when it lasts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.support.virtual import VirtualClock, dice, virtual
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.events import Snapshot
from trellis.runtime.env import Env
from trellis.workloads.auditor.auditor import Auditor
from trellis.workloads.auditor.checks import IDS
from trellis.workloads.caches import Caches

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.runtime.cache import Cache

Json = dict[str, Any]

LABELS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "llm"}
SPEC = {"roleName": "w", "replicas": 2, "podSpec": {}}


def _owner(kind: str, name: str, uid: str) -> Json:
    version = "grove.io/v1alpha1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def _metadata(name: str, *owners: Json, **labels: str) -> Json:
    return {
        "name": name,
        "namespace": "red",
        "uid": f"uid-{name}",
        "resourceVersion": "5",
        "generation": 1,
        "labels": {**LABELS, **labels},
        "ownerReferences": list(owners),
    }


def _world() -> dict[str, Json]:
    """A set with one clique of two pods, all as it has to be."""
    by_set = _owner("PodCliqueSet", "llm", "uid-llm")
    by_clique = _owner("PodClique", "llm-0-w", "uid-llm-0-w")
    names = ("llm-0-w-0-bbbbb", "llm-0-w-1-ccccc")
    pods = {
        name: {
            "metadata": _metadata(name, by_clique, **{"grove.io/podclique-pod-index": str(index)}),
            "spec": {},
            "status": {"phase": "Running"},
        }
        for index, name in enumerate(names)
    }
    references = [{"namespace": "red", "name": name} for name in names]
    return {
        "set": {
            "metadata": _metadata("llm"),
            "spec": {"replicas": 1, "template": {"cliques": []}},
            "status": {"replicas": 1, "availableReplicas": 1, "observedGeneration": 1},
        },
        "clique": {
            "metadata": _metadata("llm-0-w", by_set, **{"grove.io/podgang": "llm-0"}),
            "spec": SPEC,
            "status": {"replicas": 2, "scheduledReplicas": 2, "readyReplicas": 2},
        },
        "gang": {
            "metadata": _metadata("llm-0", by_set),
            "spec": {
                "podgroups": [{"name": "llm-0-w", "podReferences": references, "minReplicas": 2}]
            },
        },
        **pods,
    }


def _caches(world: dict[str, Json]) -> Caches:
    caches = Caches()
    pods = [body for name, body in world.items() if name.startswith("llm-0-w-")]
    _fill(caches.sets, PodCliqueSet, [world["set"]] if "set" in world else [])
    _fill(caches.cliques, PodClique, [world["clique"]])
    _fill(caches.gangs, PodGang, [world["gang"]])
    _fill(caches.pods, Pod, pods)
    return caches


def _fill(cache: Cache[Any], kind: type[Any], bodies: list[Json]) -> None:
    objects = [msgspec.json.decode(msgspec.json.encode(body), type=kind) for body in bodies]
    cache.replace(Snapshot(objects, "9"))


def _auditor(world: dict[str, Json]) -> tuple[Auditor, Env]:
    env = Env(clock=VirtualClock(), rng=dice(1))
    return Auditor(_caches(world), env, every=10.0), env


def _counted(env: Env, id_: str) -> float:
    value = env.meter.registry.get_sample_value("trellis_invariant_violations_total", {"id": id_})
    assert value is not None
    return value


@virtual
async def test_nothing_is_wrong_with_what_is_as_it_has_to_be() -> None:
    auditor, env = _auditor(_world())
    assert [await auditor.audit(), await auditor.audit()] == [(), ()]
    assert {_counted(env, id_) for id_ in IDS} == {0.0}


def _a_twin(world: dict[str, Json]) -> None:
    twin = msgspec.json.decode(msgspec.json.encode(world["llm-0-w-0-bbbbb"]))
    twin["metadata"] |= {"name": "llm-0-w-0-ddddd", "uid": "uid-twin"}
    world["llm-0-w-0-ddddd"] = twin


def _no_controller(world: dict[str, Json]) -> None:
    world["gang"]["metadata"]["ownerReferences"][0]["controller"] = False


def _wrong_counts(world: dict[str, Json]) -> None:
    world["clique"]["status"]["readyReplicas"] = 3


def _of_the_future(world: dict[str, Json]) -> None:
    world["set"]["status"]["observedGeneration"] = 2


def _no_set(world: dict[str, Json]) -> None:
    del world["set"]


def _listed_twice(world: dict[str, Json]) -> None:
    references = world["gang"]["spec"]["podgroups"][0]["podReferences"]
    references.append(references[0])


@pytest.mark.parametrize(
    ("spoil", "ids"),
    [
        pytest.param(_a_twin, {"I-04", "I-05", "D-15"}, id="a second pod of an index"),
        pytest.param(_no_controller, {"I-01"}, id="an object that nobody controls"),
        pytest.param(_wrong_counts, {"I-18"}, id="more ready than there are"),
        pytest.param(_of_the_future, {"I-18"}, id="a generation that is yet to come"),
        pytest.param(_no_set, {"L-04"}, id="children of a set that is gone"),
        pytest.param(_listed_twice, {"D-15"}, id="a name that is listed twice"),
    ],
)
@virtual
async def test_what_lasts_is_counted_once(
    spoil: Callable[[dict[str, Json]], None], ids: set[str]
) -> None:
    world = _world()
    spoil(world)
    auditor, env = _auditor(world)
    assert await auditor.audit() == (), "caches may only lag"
    assert {one.id for one in await auditor.audit()} == ids
    assert await auditor.audit() == (), "it is known by now"
    assert {id_ for id_ in IDS if _counted(env, id_)} == ids


@virtual
async def test_what_goes_and_comes_back_is_counted_again() -> None:
    world = _world()
    auditor, env = _auditor(world)
    clique = world["clique"]
    for ready in (3, 3, 2, 3, 3):
        clique["status"]["readyReplicas"] = ready
        _fill(auditor._caches.cliques, PodClique, [clique])
        await auditor.audit()
    assert _counted(env, "I-18") == 2


@virtual
async def test_it_looks_by_itself_every_so_often() -> None:
    world = _world()
    _wrong_counts(world)
    auditor, env = _auditor(world)
    running = asyncio.ensure_future(auditor.run())
    await asyncio.sleep(15.0)
    assert _counted(env, "I-18") == 0
    await asyncio.sleep(10.0)
    running.cancel()
    assert _counted(env, "I-18") == 1
