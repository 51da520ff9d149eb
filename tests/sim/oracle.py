# SPDX-License-Identifier: Apache-2.0
"""What there must be in the end, worked out from the sets alone: L-01 and L-04.

Written a second time on purpose, and shorter: it shares no code with the controllers that it
judges. Names are Grove's. What somebody scaled counts as they scaled it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.chronicle import controller_uid, image, is_held, is_leaving, is_ready, label, needed
from tests.sim.watching.ledgers import ledger
from tests.sim.watching.owners import OWNERS
from tests.sim.watching.policies import is_by_hand
from trellis.api.labels import (
    GANG_GATE,
    MANAGED_BY,
    OPERATOR,
    PART_OF,
    POD_INDEX,
    SCALING_GROUP_POD_INDEX,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle

_MADE = (
    "podcliques",
    "podcliquescalinggroups",
    "podgangs",
    "services",
    "horizontalpodautoscalers",
)
_MANAGED = (*_MADE, "roles", "rolebindings", "resourceclaims", "pods")
# The keys by which stories tell templates apart, and nobody else writes.
_KEYS = ("example.com/a", "example.com/b")


@dataclass(frozen=True, slots=True)
class _Gang:
    """A PodGang that is to be: its cliques with the least that each needs."""

    name: str
    cliques: dict[str, int]


class Oracle:
    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle

    def problems(self) -> Iterator[str]:
        """All that is not as it has to be."""
        yield from self._orphans()
        for found in self._chronicle.of("podcliquesets"):
            if is_leaving(found):
                if not is_held(found):
                    yield f"PodCliqueSet {found['metadata']['name']} is still leaving"
            else:
                yield from _SetOracle(self._chronicle, found).problems()

    def is_obstructed(self) -> bool:
        """Whether others hold names that we would give: then nobody knows when all is done."""
        sets = (one for one in self._chronicle.of("podcliquesets") if not is_leaving(one))
        return any(_SetOracle(self._chronicle, one).is_obstructed() for one in sets)

    def remains(self) -> Iterator[str]:
        """Everything that was made for a set, by kind and name."""
        for plural in _MANAGED:
            for found in self._chronicle.of(plural):
                if self._is_ours(found):
                    yield f"{plural} {found['metadata']['name']}"

    def _orphans(self) -> Iterator[str]:
        for plural in _MANAGED:
            for found in self._chronicle.of(plural):
                owners = _owners(found)
                alive = any(self._chronicle.by_uid(uid) for uid in owners)
                if self._is_ours(found) and not alive:
                    yield f"{plural} {found['metadata']['name']} is nobody's any more"

    def _is_ours(self, found: Body) -> bool:
        if label(found, MANAGED_BY) == OPERATOR:
            return True
        places = (self._chronicle.uids.get(uid) for uid in _owners(found))
        return any(place is not None and place.plural in OWNERS for place in places)


class _SetOracle:
    def __init__(self, chronicle: Chronicle, found: Body) -> None:
        self._chronicle = chronicle
        self._set = found
        self._uid = found["metadata"]["uid"]
        self._name = found["metadata"]["name"]
        self._namespace = found["metadata"]["namespace"]
        template = found["spec"]["template"]
        self._groups = {one["name"]: one for one in template.get("podCliqueScalingGroups", ())}
        self._cliques = {one["name"]: one for one in template["cliques"]}
        grouped = [name for one in self._groups.values() for name in one["cliqueNames"]]
        self._standalone = [name for name in self._cliques if name not in grouped]
        self._wanted: dict[str, dict[str, str]] = {plural: {} for plural in _MADE}
        """By kind and name, the uid of the controller that each must have."""
        self._templates: dict[str, Body] = {}
        """By the name of a PodClique, the clique of the template that it is of."""
        self._before: dict[str, list[str]] = {}
        """By the name of a PodClique, those before it in its replica of a scaling group."""
        self._gangs: list[_Gang] = []

    def is_obstructed(self) -> bool:
        self._want_all()
        return any(self._taken())

    def problems(self) -> Iterator[str]:
        self._want_all()
        taken = list(self._taken())
        if taken:
            # What a foreign object keeps us from making, nobody can say more of.
            if not self._tells_of_conflicts():
                yield f"{self._name} does not say that {taken} belong to others"
            return
        for plural, wanted in self._wanted.items():
            yield from self._made(plural, wanted)
        for name, uid in self._wanted["podcliques"].items():
            clique = self._get("podcliques", name)
            if clique is not None and controller_uid(clique) == uid:
                yield from self._staffed(clique)
                yield from self._updated(clique)
        for gang in self._gangs:
            yield from self._listed(gang)
        for name in self._wanted["podcliquescalinggroups"]:
            yield from self._told_of_group(name)
        yield from self._told()

    def _want_all(self) -> None:
        for index in range(self._set["spec"].get("replicas", 0)):
            self._want_replica(index)

    def _want_replica(self, index: int) -> None:
        base = f"{self._name}-{index}"
        self._want("services", base, self._uid)
        members = {name: self._least(name) for name in self._standalone}
        first = {f"{base}-{name}": least for name, least in members.items()}
        for name in members:
            self._want_clique(f"{base}-{name}", name, self._uid)
            if self._cliques[name]["spec"].get("autoScalingConfig"):
                self._want("horizontalpodautoscalers", f"{base}-{name}", self._uid)
        for group in self._groups.values():
            first.update(self._want_group(base, group))
        self._want_gang(base, first)

    def _want_group(self, base: str, group: Body) -> dict[str, int]:
        """Returns the cliques that belong to the base gang."""
        full = f"{base}-{group['name']}"
        self._want("podcliquescalinggroups", full, self._uid)
        if group.get("scaleConfig"):
            self._want("horizontalpodautoscalers", full, self._uid)
        found = self._get("podcliquescalinggroups", full)
        live = found["spec"]["replicas"] if found else 0
        uid = found["metadata"]["uid"] if found else ""
        first: dict[str, int] = {}
        for number in range(live):
            cliques = {f"{full}-{number}-{one}": self._least(one) for one in group["cliqueNames"]}
            for name, one in zip(cliques, group["cliqueNames"], strict=True):
                self._want_clique(name, one, uid)
                self._before[name] = list(cliques)[: list(cliques).index(name)]
            if number < group["minAvailable"]:
                first.update(cliques)
            else:
                self._want_gang(f"{full}-{number - group['minAvailable']}", cliques)
        return first

    def _want_gang(self, name: str, cliques: dict[str, int]) -> None:
        sizes = {one: self._size(one) for one in cliques}
        needed = {one: min(least, sizes[one]) for one, least in cliques.items() if sizes[one]}
        if needed:
            self._want("podgangs", name, self._uid)
            self._gangs.append(_Gang(name, needed))

    def _want_clique(self, name: str, template: str, uid: str) -> None:
        self._want("podcliques", name, uid)
        self._templates[name] = self._cliques[template]

    def _want(self, plural: str, name: str, uid: str) -> None:
        self._wanted[plural][name] = uid

    def _least(self, clique: str) -> int:
        spec = self._cliques[clique]["spec"]
        return int(spec.get("minAvailable", spec["replicas"]))

    def _size(self, clique: str) -> int:
        found = self._get("podcliques", clique)
        return int(found["spec"]["replicas"]) if found else 0

    def _get(self, plural: str, name: str) -> Body | None:
        return self._chronicle.get(plural, self._namespace, name)

    def _taken(self) -> Iterator[str]:
        for plural, wanted in self._wanted.items():
            for name in wanted:
                found = self._get(plural, name)
                if found is not None and controller_uid(found) not in self._chronicle.uids:
                    yield f"{plural}/{name}"

    def _tells_of_conflicts(self) -> bool:
        """Whether the set, or whichever of its children is held up, says so."""
        mine = (
            one
            for plural in ("podcliques", "podcliquescalinggroups")
            for one in self._chronicle.of(plural, self._namespace)
            if label(one, PART_OF) == self._name
        )
        return any("NameConflict" in str(one.get("status", {})) for one in (self._set, *mine))

    def _made(self, plural: str, wanted: dict[str, str]) -> Iterator[str]:
        for name, uid in wanted.items():
            found = self._get(plural, name)
            if found is None:
                yield f"{plural} {name} is missing"
            elif is_leaving(found):
                yield f"{plural} {name} is leaving"
            elif controller_uid(found) != uid:
                yield f"{plural} {name} is controlled by another object"
            elif label(found, MANAGED_BY) != OPERATOR:
                yield f"{plural} {name} has lost its label"
        for found in self._chronicle.of(plural, self._namespace):
            name = found["metadata"]["name"]
            if name not in wanted and label(found, PART_OF) == self._name:
                yield f"{plural} {name} is not wanted"

    def _pods(self, clique: Body) -> list[Body]:
        """Those that can be known as ours. One that lost its label in the moment in which it was to
        go is out of reach until its PodClique goes; one that is listed must get it back."""
        uid = clique["metadata"]["uid"]
        pods = self._chronicle.objects["pods"]
        mine = [pods[one] for one in self._chronicle.dependents.get(uid, ()) if one in pods]
        return [pod for pod in mine if label(pod, MANAGED_BY) == OPERATOR]

    def _staffed(self, clique: Body) -> Iterator[str]:
        name, pods = clique["metadata"]["name"], self._pods(clique)
        wanted = clique["spec"]["replicas"]
        leaving = [pod["metadata"]["name"] for pod in pods if is_leaving(pod)]
        if any(is_leaving(pod) and not is_held(pod) for pod in pods):
            yield f"{name}: {leaving} are still leaving"
        if len(pods) - len(leaving) != wanted:
            yield f"{name} has {len(pods) - len(leaving)} pods of {wanted}"
        indices = Counter(label(pod, POD_INDEX) for pod in pods if not is_leaving(pod))
        if any(count > 1 for count in indices.values()):
            yield f"{name} has an index twice: {dict(indices)}"
        yield from self._ranked(name, [pod for pod in pods if not is_leaving(pod)])
        for pod in pods:
            if not is_leaving(pod) and not _is_well(pod):
                yield f"{name}: {pod['metadata']['name']} is {_how(pod)}"
        yield from self._counted(clique, pods)

    def _ranked(self, name: str, pods: list[Body]) -> Iterator[str]:
        """In a scaling group pods are counted through. Who was made without a number has none."""
        before = sum(self._size(one) for one in self._before.get(name, ()))
        for pod in pods:
            told, index = label(pod, SCALING_GROUP_POD_INDEX), label(pod, POD_INDEX)
            if told and index and told != str(before + int(index)):
                yield f"{pod['metadata']['name']} is number {told}, and {before} are before {name}"

    def _updated(self, clique: Body) -> Iterator[str]:
        """Who is updated by hand may have pods of several templates, but only one to make more."""
        name = clique["metadata"]["name"]
        wanted = image(self._templates[name]["spec"]["podSpec"])
        if image(clique["spec"]["podSpec"]) != wanted:
            yield f"{name} is not of the template: it has {image(clique['spec']['podSpec'])}"
        yield from _rolled_out(name, clique.get("status", {}))
        yield from self._marked(name, clique)
        least = min(self._least(self._templates[name]["name"]), clique["spec"]["replicas"])
        if needed(clique) != least:
            yield f"{name} needs {needed(clique)} pods, and should {least}"
        if is_by_hand(self._set):
            return
        for pod in self._pods(clique):
            if is_leaving(pod):
                continue
            yield from self._marked(name, pod)
            if image(pod["spec"]) != wanted:
                yield f"{pod['metadata']['name']} has {image(pod['spec'])}, and not {wanted}"
        status = clique.get("status", {})
        if (status.get("updatedReplicas") or 0) != clique["spec"]["replicas"]:
            yield f"{name} says that {status.get('updatedReplicas')} are updated"

    def _marked(self, clique: str, found: Body) -> Iterator[str]:
        """What the template says of labels and annotations is so, and what it no longer says is
        not."""
        for kind in ("labels", "annotations"):
            wanted = self._templates[clique].get(kind) or {}
            have = found["metadata"].get(kind, {})
            for key in _KEYS:
                if have.get(key) != wanted.get(key):
                    name = found["metadata"]["name"]
                    yield f"{name} has {key}={have.get(key)}, and the template {wanted.get(key)}"

    def _told_of_group(self, name: str) -> Iterator[str]:
        found = self._get("podcliquescalinggroups", name)
        if found is None:
            return
        wanted = found["spec"]["replicas"]
        facts = {"observedGeneration": found["metadata"]["generation"]}
        if not self._has_ended_pods():
            facts["availableReplicas"] = wanted
        if not is_by_hand(self._set):
            facts["updatedReplicas"] = wanted
        yield from _says(name, found.get("status", {}), facts)

    def _counted(self, clique: Body, pods: list[Body]) -> Iterator[str]:
        status = clique.get("status", {})
        staying = [pod for pod in pods if not is_leaving(pod)]
        facts = {
            "readyReplicas": sum(1 for pod in staying if is_ready(pod)),
            "scheduledReplicas": sum(1 for pod in staying if pod["spec"].get("nodeName")),
            "observedGeneration": clique["metadata"]["generation"],
        }
        yield from _says(clique["metadata"]["name"], status, facts)

    def _listed(self, gang: _Gang) -> Iterator[str]:
        found = self._get("podgangs", gang.name)
        if found is None:
            return
        listed = ledger(found)
        least = {one["name"]: one["minReplicas"] for one in found["spec"].get("podgroups", ())}
        if least != gang.cliques:
            yield f"PodGang {gang.name} needs {least}, and should {gang.cliques}"
        for name in gang.cliques:
            clique = self._get("podcliques", name)
            pods = self._pods(clique) if clique else []
            there = sorted(pod["metadata"]["name"] for pod in pods if not is_leaving(pod))
            if sorted(listed.get(name, ())) != there:
                yield f"PodGang {gang.name} lists {listed.get(name)}, and there are {there}"

    def _told(self) -> Iterator[str]:
        """What the set says of itself. A pod that is done makes no set ready."""
        status = self._set.get("status", {})
        if (status.get("observedGeneration") or 0) != self._set["metadata"]["generation"]:
            yield f"{self._name} speaks of generation {status.get('observedGeneration')}"
        yield from _rolled_out(self._name, status)
        wanted = self._set["spec"].get("replicas", 0)
        if not is_by_hand(self._set):
            yield from _says(self._name, status, {"updatedReplicas": wanted})
        if self._has_ended_pods():
            return
        if (status.get("availableReplicas") or 0) != wanted:
            yield f"{self._name} says {status.get('availableReplicas')} of {wanted} are available"
        ready = {one["type"]: one["status"] for one in status.get("conditions", ())}.get("Ready")
        if ready != "True":
            yield f"{self._name} says Ready={ready}: {_condition(status, 'Ready')}"
        for one in status.get("podGangStatuses", ()):
            gang = self._get("podgangs", one["name"])
            phase = gang.get("status", {}).get("phase") if gang is not None else None
            if one["phase"] != phase:
                yield f"{self._name} says that {one['name']} is {one['phase']}, and it is {phase}"

    def _has_ended_pods(self) -> bool:
        cliques = [self._get("podcliques", name) for name in self._wanted["podcliques"]]
        return any(
            pod["status"].get("phase") == "Succeeded"
            for clique in cliques
            if clique is not None
            for pod in self._pods(clique)
        )


def _says(name: str, status: Body, facts: dict[str, int]) -> Iterator[str]:
    for field, fact in facts.items():
        if (status.get(field) or 0) != fact:
            yield f"{name} says {field} {status.get(field)}, and it is {fact}"


def _rolled_out(name: str, status: Body) -> Iterator[str]:
    """In the end no update is under way."""
    progress = status.get("updateProgress")
    if progress is not None and not progress.get("updateEndedAt"):
        yield f"{name} says that its update goes on: {progress}"
    elif progress is not None and progress.get("currentlyUpdating"):
        yield f"{name} says that {progress['currentlyUpdating']} are being updated"


def _owners(found: Body) -> list[str]:
    return [one["uid"] for one in found["metadata"].get("ownerReferences", ())]


def _is_well(pod: Body) -> bool:
    if pod["status"].get("phase") == "Succeeded":
        return True
    return not _gates(pod) and bool(pod["spec"].get("nodeName")) and is_ready(pod)


def _gates(pod: Body) -> list[str]:
    return [one["name"] for one in pod["spec"].get("schedulingGates") or ()]


def _how(pod: Body) -> str:
    if GANG_GATE in _gates(pod):
        return "still held back by our gate"
    if not pod["spec"].get("nodeName"):
        return "without a node"
    return f"{pod['status'].get('phase')} and not ready"


def _condition(status: Body, kind: str) -> str:
    found = [one for one in status.get("conditions", ()) if one["type"] == kind]
    return f"{found[0].get('reason')}: {found[0].get('message')}" if found else "no such condition"
