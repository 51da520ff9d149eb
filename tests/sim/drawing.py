# SPDX-License-Identifier: Apache-2.0
"""From a seed to a story: sets, deeds, and a swarm of faults.

Each story draws which sorts of faults and deeds it is made of, so that rare ones are at times
common: what only shows when one thing goes wrong again and again is found by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.sim.acts import STRATEGIES, image, strategy
from tests.sim.faults import TRAITS, Kind
from tests.sim.grammar import ENTRIES, fields, nested
from tests.sim.ground import NAMESPACES, NODES
from tests.sim.shapes import SHAPES, Shape
from tests.sim.story import Act, Fault, Order, Story, Where
from tests.support.virtual import dice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Draws = Callable[["Drawer"], Act]

_LAST_SECOND = 24.0
# So that about as many strike as are drawn: this far apart they lie on average.
_APART = {Where.CALL: 7, Where.EVENT: 9, Where.HOOK: 2, Where.TURN: 400}
_FEWEST, _MOST = 18, 34
_ENCORES, _LAST_ENCORES = 30, 6


def drawn(seed: int) -> Story:
    return Drawer(seed).story()


class Drawer:
    def __init__(self, seed: int) -> None:
        self.rng = dice(seed)
        self._seed = seed
        self._sets: list[tuple[str, str, Shape, int]] = []
        self._racing = False

    def story(self) -> Story:
        rng = self.rng
        acts = [*self._beginnings(), *self._deeds(), *self._second_thoughts()]
        encores = tuple(self._encores())
        instances = 2 if rng.random() < 0.3 else 1
        skewed = rng.random() < 0.2
        return Story(
            name=f"seed {self._seed}",
            seed=self._seed,
            acts=tuple(sorted(acts, key=lambda act: act.at)),
            encores=encores,
            faults=tuple(self._faults(instances)),
            instances=instances,
            lease=rng.random() < 0.15,
            order=Order.PRIORITY if rng.random() < 0.25 else Order.DRAWN,
            skews=tuple(round(rng.uniform(-600, 600)) for _ in range(instances * skewed)),
            news_delay=rng.choice((0.0, 0.02, 0.02, 0.2, 1.0)),
            embedded=rng.random() < 0.03,
            racing=self._racing,
            teardown=True,
        )

    def moment(self) -> float:
        return round(self.rng.uniform(0.8, _LAST_SECOND), 2)

    def a_set(self) -> tuple[str, str, Shape, int]:
        """Namespace, name, shape and the replicas to begin with of one of the sets."""
        return self.rng.choice(self._sets)

    def a_replica(self, replicas: int) -> int:
        return self.rng.randrange(max(replicas, 1))

    def a_clique(self) -> tuple[str, str]:
        namespace, name, shape, replicas = self.a_set()
        names = list(shape.clique_names(name, self.a_replica(replicas)))
        return namespace, self.rng.choice(names)

    def a_child(self) -> dict[str, str]:
        """Some object that is made for a set, by kind and name."""
        namespace, name, shape, replicas = self.a_set()
        replica = self.a_replica(replicas)
        made = [("services", f"{name}-{replica}"), ("podgangs", f"{name}-{replica}")]
        made += [("podcliques", one) for one in shape.clique_names(name, replica)]
        made += [("podcliquescalinggroups", one) for one in shape.group_names(name, replica)]
        plural, child = self.rng.choice(made)
        return {"plural": plural, "namespace": namespace, "name": child}

    def race(self) -> None:
        self._racing = True

    def _beginnings(self) -> Iterator[Act]:
        for number in range(2):
            if number and self.rng.random() < (0.8 if self._sets[0][2].groups else 0.4):
                # One of that size is enough to look at.
                return
            shape = SHAPES[self.rng.choice(sorted(SHAPES))]
            replicas = 1 if shape.groups and number else self.rng.choice((1, 1, 2))
            namespace = self.rng.choice(NAMESPACES)
            # Names that begin alike are the ones that get mixed up.
            name = ("llm", "llm-0")[number]
            self._sets.append((namespace, name, shape, replicas))
            at = round(self.rng.uniform(0.2, 1.5), 2)
            yield Act(at, "apply", {"namespace": namespace, "body": shape.body(name, replicas)})

    def _second_thoughts(self) -> Iterator[Act]:
        """In the end everybody applies once more what they began with, be it there or gone."""
        for namespace, name, shape, replicas in self._sets:
            at = round(self.rng.uniform(0.6, 1.0) * _LAST_SECOND, 2)
            # With groups, one more replica is many more objects.
            more = self.rng.choice((0, 1)) if shape.groups else 1
            body = shape.body(name, replicas + more)
            yield Act(at, "apply", {"namespace": namespace, "body": body})

    def _deeds(self) -> Iterator[Act]:
        liked = [draw for draw in _DEEDS if self.rng.random() < 0.5] or list(_DEEDS)
        for _ in range(self.rng.randint(4, 8)):
            yield self.rng.choice(liked)(self)

    def _encores(self) -> Iterator[Act]:
        """For stories that would end too soon. Their times are counted from the one before."""
        for _ in range(_ENCORES):
            act = self.rng.choice(_BUSY)(self)
            yield structs.replace(act, at=round(self.rng.uniform(0.5, 3.0), 2))
        # All of that comes to nothing where the sets are gone.
        for _ in range(_LAST_ENCORES):
            for namespace, name, shape, _replicas in self._sets:
                body = shape.body(name, 2)
                yield Act(1.0, "recreate", {"namespace": namespace, "body": body})

    def _faults(self, instances: int) -> Iterator[Fault]:
        liked = [kind for kind in Kind if self.rng.random() < 0.4] or list(Kind)
        positions = dict.fromkeys([(w, n) for w in Where for n in range(instances)], 0)
        taken: set[tuple[Where, int, int]] = set()
        for _ in range(self.rng.randint(_FEWEST, _MOST)):
            kind, instance = self.rng.choice(liked), self.rng.randrange(instances)
            trait = TRAITS[kind]
            if trait.where is Where.HOOK:
                instance = 0
            gap = 1 + int(self.rng.expovariate(1 / _APART[trait.where]))
            positions[trait.where, instance] += gap
            at = positions[trait.where, instance]
            amount = round(self.rng.uniform(trait.least, trait.most), 2)
            if (trait.where, at, instance) not in taken:
                taken.add((trait.where, at, instance))
                yield Fault(trait.where, at, kind, amount, instance)


def _changed(drawer: Drawer) -> Act:
    """One field of the schema is set or unset."""
    namespace, name, shape, _ = drawer.a_set()
    field = drawer.rng.choice(fields())
    value = field.drawn(drawer.rng)
    where: dict[str, Any] = {"namespace": namespace, "name": name}
    if ENTRIES not in field.path:
        patch = {"spec": nested(field.path, value)}
        return Act(drawer.moment(), "edit", {**where, "patch": patch})
    before = field.path.index(ENTRIES)
    patch = nested(field.path[before + 1 :], value)
    if field.path[before - 1] == "cliques":
        clique = drawer.rng.choice([one["name"] for one in shape.cliques])
        return Act(drawer.moment(), "edit_clique", {**where, "clique": clique, "patch": patch})
    group = drawer.rng.choice([one["name"] for one in shape.groups] or ["none"])
    return Act(drawer.moment(), "edit_group", {**where, "group": group, "patch": patch})


def _updated(drawer: Drawer) -> Act:
    """Another image for a clique, or one that it has had before."""
    namespace, name, shape, _ = drawer.a_set()
    clique = drawer.rng.choice([one["name"] for one in shape.cliques])
    where = {"namespace": namespace, "name": name, "clique": clique}
    return Act(drawer.moment(), "edit_clique", {**where, "patch": image(drawer.rng.randint(1, 3))})


def _switched(drawer: Drawer) -> Act:
    """From one strategy of updates to the other, or to the same again."""
    namespace, name, _, _ = drawer.a_set()
    patch = strategy(drawer.rng.choice(STRATEGIES))
    return Act(drawer.moment(), "edit", {"namespace": namespace, "name": name, "patch": patch})


def _marked(drawer: Drawer) -> Act:
    """A label of the set comes, changes or goes."""
    namespace, name, _, _ = drawer.a_set()
    labels = {"example.com/team": drawer.rng.choice(("red", "blue", None))}
    args = {"namespace": namespace, "name": name, "patch": {"metadata": {"labels": labels}}}
    return Act(drawer.moment(), "edit", args)


def _resized(drawer: Drawer) -> Act:
    namespace, name, _, _ = drawer.a_set()
    where = {"plural": "podcliquesets", "namespace": namespace, "name": name}
    return Act(drawer.moment(), "scale", {**where, "replicas": drawer.rng.choice((0, 1, 2, 3))})


def _scaled(drawer: Drawer) -> Act:
    """As an autoscaler does: a clique on its own, or a group."""
    namespace, name, shape, replicas = drawer.a_set()
    base = f"{name}-{drawer.a_replica(replicas)}"
    names = [("podcliques", f"{base}-{one}") for one in shape.alone()]
    names += [("podcliquescalinggroups", f"{base}-{one['name']}") for one in shape.groups]
    plural, target = drawer.rng.choice(names)
    where = {"plural": plural, "namespace": namespace, "name": target}
    return Act(drawer.moment(), "scale", {**where, "replicas": drawer.rng.randint(0, 4)})


def _rolled_back(drawer: Drawer) -> Act:
    namespace, name, _, _ = drawer.a_set()
    args = {"namespace": namespace, "name": name, "steps": drawer.rng.choice((1, 2))}
    return Act(drawer.moment(), "roll_back", args)


def _deleted(drawer: Drawer) -> Act:
    namespace, name, _, _ = drawer.a_set()
    policy = drawer.rng.choice(("Background", "Background", "Foreground"))
    return Act(drawer.moment(), "delete", {"namespace": namespace, "name": name, "policy": policy})


def _recreated(drawer: Drawer) -> Act:
    namespace, name, shape, _ = drawer.a_set()
    body = shape.body(name, drawer.rng.choice((1, 2)))
    return Act(drawer.moment(), "recreate", {"namespace": namespace, "body": body})


def _rehearsed(drawer: Drawer) -> Act:
    namespace, _, shape, _ = drawer.a_set()
    body = shape.body("dry", 1)
    return Act(drawer.moment(), "rehearse", {"namespace": namespace, "body": body})


def _killed(drawer: Drawer) -> Act:
    namespace, clique = drawer.a_clique()
    index = drawer.rng.randrange(2)
    what = drawer.rng.choice(("kill_pod", "kill_pod", "strip_pod"))
    return Act(drawer.moment(), what, {"namespace": namespace, "clique": clique, "index": index})


def _failed(drawer: Drawer) -> Act:
    namespace, clique = drawer.a_clique()
    args = {"namespace": namespace, "clique": clique, "index": 0, "phase": "Failed"}
    return Act(drawer.moment(), "end_pod", args)


def _fated(drawer: Drawer) -> Act:
    _, clique = drawer.a_clique()
    fate = drawer.rng.choice(("pending", "bound", "unready", "ready"))
    return Act(drawer.moment(), "decree", {"clique": clique, "fate": fate})


def _silenced(drawer: Drawer) -> Act:
    what = drawer.rng.choice(("silence_node", "silence_node", "revive_node"))
    return Act(drawer.moment(), what, {"node": drawer.rng.choice(NODES)})


def _robbed(drawer: Drawer) -> Act:
    what = drawer.rng.choice(("delete_child", "delete_child", "strip_labels", "annotate"))
    return Act(drawer.moment(), what, drawer.a_child())


def _squatted(drawer: Drawer) -> Act:
    drawer.race()
    child = drawer.a_child()
    bodies: dict[str, dict[str, Any]] = {
        "services": {"spec": {"clusterIP": "None", "selector": {"a": "b"}}},
        "podgangs": {"spec": {"podgroups": []}},
    }
    plural = child["plural"] if child["plural"] in bodies else "services"
    name = child["name"] if child["plural"] in bodies else f"{drawer.a_set()[1]}-1"
    body = {"metadata": {"name": name}, **bodies[plural]}
    if plural == "podgangs":
        body |= {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang"}
    args = {"plural": plural, "namespace": child["namespace"], "body": body}
    return Act(round(drawer.rng.uniform(0.1, 6.0), 2), "squat", args)


def _jumped(drawer: Drawer) -> Act:
    seconds = drawer.rng.choice((-300.0, -5.0, 5.0, 300.0))
    return Act(drawer.moment(), "jump", {"instance": 0, "seconds": seconds})


def _bounced(drawer: Drawer) -> Act:
    return Act(drawer.moment(), "bounce", {"instance": 0})


def _forgotten(drawer: Drawer) -> Act:
    return Act(drawer.moment(), "lose_history", {"instance": 0})


_DEEDS: tuple[Draws, ...] = (
    _changed,
    _changed,
    _updated,
    _updated,
    _switched,
    _marked,
    _resized,
    _scaled,
    _scaled,
    _rolled_back,
    _deleted,
    _recreated,
    _rehearsed,
    _killed,
    _failed,
    _fated,
    _silenced,
    _robbed,
    _robbed,
    _squatted,
    _jumped,
    _bounced,
    _forgotten,
)
# Each makes the operator write something.
_BUSY: tuple[Draws, ...] = (_scaled, _killed, _failed, _robbed, _recreated, _updated)
