# SPDX-License-Identifier: Apache-2.0
"""What people and machines do in a story: each deed by its name, as acts call it.

Whoever means an object that the operator makes waits until it is there, so that what faults delay
is still done: an end must not depend on who was late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.sim.actors.nodes import Fate, Nodes
from tests.sim.chronicle import HOLDING, Place, is_leaving, label
from tests.sim.paths import collection, path_of
from tests.sim.watching.statuses import FOREIGN
from trellis.api.labels import GANG_GATE, POD_CLIQUE, POD_INDEX

if TYPE_CHECKING:
    from tests.sim.chronicle import Body, Chronicle
    from tests.sim.hand import Hand, Reply
    from tests.sim.operators import Operator

Deed = Callable[..., Awaitable[None]]

SETS = "podcliquesets"
_PATIENCE = 40
_AGAIN_SECONDS = 1.5
STRIPPED = "app.kubernetes.io/managed-by"


@dataclass(slots=True)
class Cast:
    """Everybody who does something, and what they remember."""

    chronicle: Chronicle
    user: Hand
    adversary: Hand
    nodes: Nodes
    operators: tuple[Operator, ...]
    complain: Callable[[str, str], None]
    specs: dict[tuple[str, str], list[Body]] = field(default_factory=dict)
    """Every spec of a set that was let in, to go back to."""

    async def perform(self, what: str, args: dict[str, Any]) -> None:
        deed: Deed = DEEDS[what]
        await deed(self, **args)

    async def there(self, plural: str, namespace: str, name: str) -> Body | None:
        """The object, once it is there and stays; None: it will not come."""
        for _ in range(_PATIENCE):
            found = self.chronicle.get(plural, namespace, name)
            if found is not None and not is_leaving(found):
                return found
            await asyncio.sleep(_AGAIN_SECONDS)
        return None

    async def pod(self, namespace: str, clique: str, index: int) -> Place | None:
        """The place of the live pod of that index of a PodClique, once there is one."""
        for _ in range(_PATIENCE):
            for place, pod in sorted(self.chronicle.objects["pods"].items()):
                mine = label(pod, POD_CLIQUE) == clique and place.namespace == namespace
                if mine and label(pod, POD_INDEX) == str(index) and not is_leaving(pod):
                    return place
            await asyncio.sleep(_AGAIN_SECONDS)
        return None

    async def insist(self, method: str, path: str, body: Body) -> Reply:
        """Asks again while the API server or a webhook of it is in trouble, as people do."""
        answer = await self.user.ask(method, path, body)
        for _ in range(_PATIENCE):
            if answer.status < 500:
                break
            await asyncio.sleep(_AGAIN_SECONDS)
            answer = await self.user.ask(method, path, body)
        if answer.status >= 500:
            self.complain("5xx", f"{method} {path}: {answer.status} {answer.message}")
        return answer


async def apply(cast: Cast, namespace: str, body: Body) -> None:
    """Makes a set, or changes it to that."""
    name = body["metadata"]["name"]
    present = cast.chronicle.get(SETS, namespace, name)
    if present is None or is_leaving(present):
        placed = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
        answer = await cast.insist("POST", collection(SETS, namespace), placed)
    else:
        path = path_of(Place(SETS, namespace, name))
        answer = await cast.insist("PATCH", path, {"spec": body["spec"]})
    _remember(cast, namespace, answer)


async def edit(cast: Cast, namespace: str, name: str, patch: Body) -> None:
    """Changes a set; a refusal is an answer too."""
    path = path_of(Place(SETS, namespace, name))
    _remember(cast, namespace, await cast.insist("PATCH", path, patch))


async def edit_clique(cast: Cast, namespace: str, name: str, clique: str, patch: Body) -> None:
    """Changes one clique of the template of a set."""
    await _edit_list(cast, (namespace, name), "cliques", clique, patch)


async def edit_group(cast: Cast, namespace: str, name: str, group: str, patch: Body) -> None:
    """Changes one scaling group of the template of a set."""
    await _edit_list(cast, (namespace, name), "podCliqueScalingGroups", group, patch)


async def roll_back(cast: Cast, namespace: str, name: str, steps: int) -> None:
    """Goes back to what the set was so many changes ago."""
    known = cast.specs.get((namespace, name), [])
    if len(known) > steps:
        patch = {"spec": {"replicas": None, **known[-1 - steps]}}
        await edit(cast, namespace, name, patch)


async def scale(cast: Cast, plural: str, namespace: str, name: str, replicas: int) -> None:
    """As an autoscaler does, or kubectl scale."""
    if await cast.there(plural, namespace, name) is None:
        return
    path = f"{path_of(Place(plural, namespace, name))}/scale"
    await cast.insist("PATCH", path, {"spec": {"replicas": replicas}})


async def delete(cast: Cast, namespace: str, name: str, policy: str = "Background") -> None:
    path = path_of(Place(SETS, namespace, name))
    await cast.insist("DELETE", path, {"propagationPolicy": policy})


async def recreate(cast: Cast, namespace: str, body: Body) -> None:
    """Deletes a set and makes another one of the same name as soon as that can be."""
    name = body["metadata"]["name"]
    await delete(cast, namespace, name)
    while cast.chronicle.get(SETS, namespace, name) is not None:
        await asyncio.sleep(0.05)
    await apply(cast, namespace, body)


async def rehearse(cast: Cast, namespace: str, body: Body) -> None:
    """A dry run: nothing may come of it."""
    path = collection(SETS, namespace)
    placed = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    await cast.user.ask("POST", path, placed, dryRun="All")


async def kill_pod(cast: Cast, namespace: str, clique: str, index: int) -> None:
    place = await cast.pod(namespace, clique, index)
    if place is not None:
        await cast.user.ask("DELETE", path_of(place), {})


async def hang_pod(cast: Cast, namespace: str, clique: str, index: int) -> None:
    """It is asked to leave, and somebody keeps it from that for ever."""
    place = await cast.pod(namespace, clique, index)
    if place is not None:
        await cast.user.ask("PATCH", path_of(place), {"metadata": {"finalizers": [HOLDING]}})
        await cast.user.ask("DELETE", path_of(place), {})


async def evict_pod(cast: Cast, namespace: str, clique: str, index: int) -> None:
    place = await cast.pod(namespace, clique, index)
    if place is not None:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": place.name, "namespace": namespace},
        }
        await cast.user.ask("POST", f"{path_of(place)}/eviction", body)


async def lift_gates(cast: Cast, namespace: str, clique: str, index: int) -> None:
    """The gates that a user has put on a pod go when ours has."""
    for _ in range(_PATIENCE):
        place = await cast.pod(namespace, clique, index)
        pod = cast.chronicle.objects["pods"].get(place) if place is not None else None
        gates = (pod or {}).get("spec", {}).get("schedulingGates", ())
        if place is not None and gates and all(one["name"] != GANG_GATE for one in gates):
            await cast.user.ask("PATCH", path_of(place), {"spec": {"schedulingGates": []}})
            return
        await asyncio.sleep(_AGAIN_SECONDS)


async def end_pod(cast: Cast, namespace: str, clique: str, index: int, phase: str) -> None:
    """The pod has failed for good, or is done."""
    place = await cast.pod(namespace, clique, index)
    for _ in range(_PATIENCE):
        pod = cast.chronicle.objects["pods"].get(place) if place is not None else None
        if place is None or pod is None:
            return
        if pod["spec"].get("nodeName"):
            await cast.nodes.tell(place, pod, phase, ready=False)
            return
        await asyncio.sleep(_AGAIN_SECONDS)


async def decree(cast: Cast, clique: str, fate: str, image: str = "") -> None:
    cast.nodes.decree(clique, Fate(fate), image)


async def see_ready(cast: Cast, plural: str, namespace: str, name: str) -> None:
    """Somebody looks, long before all is made well, whether a PodClique is by itself."""
    found = cast.chronicle.get(plural, namespace, name) or {"spec": {}, "status": {}}
    ready, wanted = found["status"].get("readyReplicas"), found["spec"].get("replicas")
    if ready != wanted:
        cast.complain("RU", f"{name} has {ready} ready pods of {wanted}, and nothing mends it")


async def silence_node(cast: Cast, node: str) -> None:
    """The node falls silent, and its pods are asked to leave it."""
    cast.nodes.silence(node)
    for place, pod in sorted(cast.chronicle.objects["pods"].items()):
        if pod["spec"].get("nodeName") == node:
            await cast.user.ask("DELETE", path_of(place), {})


async def revive_node(cast: Cast, node: str) -> None:
    cast.nodes.revive(node)


async def delete_child(cast: Cast, plural: str, namespace: str, name: str) -> None:
    if await cast.there(plural, namespace, name) is not None:
        path = path_of(Place(plural, namespace, name))
        await cast.adversary.ask("DELETE", path, {"propagationPolicy": "Background"})


async def strip_labels(cast: Cast, plural: str, namespace: str, name: str) -> None:
    """Takes the label off by which we read our own."""
    if await cast.there(plural, namespace, name) is not None:
        path = path_of(Place(plural, namespace, name))
        await cast.adversary.ask("PATCH", path, {"metadata": {"labels": {STRIPPED: None}}})


async def strip_pod(
    cast: Cast, namespace: str, clique: str, index: int, key: str = STRIPPED
) -> None:
    """Takes a label off a pod: the one by which we read our own, if no other is named."""
    place = await cast.pod(namespace, clique, index)
    if place is not None:
        patch = {"metadata": {"labels": {key: None}}}
        await cast.adversary.ask("PATCH", path_of(place), patch)


async def annotate(cast: Cast, plural: str, namespace: str, name: str) -> None:
    """A foreign writer leaves a mark, and a condition of its own."""
    if await cast.there(plural, namespace, name) is None:
        return
    path = path_of(Place(plural, namespace, name))
    await cast.adversary.ask("PATCH", path, {"metadata": {"annotations": {FOREIGN: "1"}}})
    found = cast.chronicle.get(plural, namespace, name)
    if found is None or plural == "services":
        return
    kept = found.get("status", {}).get("conditions", [])
    condition = {
        "type": FOREIGN,
        "status": "True",
        "reason": "Foreign",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    status = {"conditions": [*(c for c in kept if c["type"] != FOREIGN), condition]}
    if plural == "podgangs":
        # It must have one, and nobody may have told it yet.
        status["phase"] = found.get("status", {}).get("phase", "Pending")
    body = {"status": status}
    await cast.adversary.ask("PATCH", f"{path}/status", body)


async def squat(cast: Cast, plural: str, namespace: str, body: Body) -> None:
    """Takes a name that we would give."""
    await cast.adversary.ask("POST", collection(plural, namespace), body)


async def make(cast: Cast, plural: str, namespace: str, body: Body) -> None:
    """Something that sets only speak of, such as a template of claims."""
    await cast.insist("POST", collection(plural, namespace), body)


async def jump(cast: Cast, instance: int, seconds: float) -> None:
    if instance < len(cast.operators):
        cast.operators[instance].clock.skew += seconds


async def bounce(cast: Cast, instance: int) -> None:
    if instance < len(cast.operators):
        cast.operators[instance].bounce()


async def lose_history(cast: Cast, instance: int) -> None:
    """The API server forgets: what happens next is seen by no watch of that operator."""
    if instance < len(cast.operators):
        cast.operators[instance].lose_history()


async def _edit_list(
    cast: Cast, which: tuple[str, str], field_name: str, entry: str, patch: Body
) -> None:
    """A merge patch knows no entries of lists, so the whole list is sent."""
    namespace, name = which
    found = cast.chronicle.get(SETS, namespace, name)
    if found is None or is_leaving(found):
        return
    entries = found["spec"]["template"].get(field_name, [])
    changed = [_merged(one, patch) if one["name"] == entry else one for one in entries]
    await edit(cast, namespace, name, {"spec": {"template": {field_name: changed}}})


def _merged(body: Body, patch: Body) -> Body:
    merged = dict(body)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _merged(merged[name], value)
        else:
            merged[name] = value
    return merged


def _remember(cast: Cast, namespace: str, answer: Reply) -> None:
    if answer.ok:
        name = answer.body["metadata"]["name"]
        cast.specs.setdefault((namespace, name), []).append(answer.body["spec"])


DEEDS: dict[str, Deed] = {
    deed.__name__: deed
    for deed in (
        apply,
        edit,
        edit_clique,
        edit_group,
        roll_back,
        scale,
        delete,
        recreate,
        rehearse,
        kill_pod,
        hang_pod,
        evict_pod,
        lift_gates,
        end_pod,
        decree,
        see_ready,
        silence_node,
        revive_node,
        delete_child,
        strip_labels,
        strip_pod,
        annotate,
        squat,
        make,
        jump,
        bounce,
        lose_history,
    )
}
