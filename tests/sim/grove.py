# SPDX-License-Identifier: Apache-2.0
"""What is tested end to end on a cluster, told again where everything can go wrong: Grove's own
scenarios, healing, claims and the examples. `counterparts` says which is which.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.sim.acts import (
    NAME,
    RED,
    apply,
    child,
    delete,
    edit,
    lost,
    make,
    pod,
    resize,
    scale,
    story,
)
from tests.sim.ground import NODES
from tests.sim.shapes import Shape
from tests.sim.story import Act
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group
from trellis.api.annotation import AFTER_DEPARTURE
from trellis.api.grove.template import EXPLICIT, IN_ORDER

if TYPE_CHECKING:
    from tests.sim.story import Story

EXAMPLES = Path(__file__).parents[2] / "examples" / "podcliqueset"
_QUICK = (("terminationDelay", "10s"),)
_SCALING = {"minReplicas": 1, "maxReplicas": 3}
_TRIO = (a_clique("a", 1), a_clique("b", 1), a_clique("c", 1))
_BC = a_group("sg", "b", "c", replicas=2)
_DEVICES = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "none"}}]}}
_GATE = {"schedulingGates": [{"name": "example.com/quota"}]}

# Smaller than Grove's workloads 1 to 6, and otherwise alike.
NEEDY = Shape(
    (a_clique("a", 2), a_clique("b", 1), a_clique("c", 2)),
    groups=(a_group("sg", "b", "c", replicas=2, least=2),),
    template=_QUICK,
)
SPARING = Shape(
    (a_clique("a", 2, 1), a_clique("b", 1), a_clique("c", 2, 1)), groups=(_BC,), template=_QUICK
)
DEMANDING = Shape(
    (a_clique("a", 2, 1), a_clique("b", 1), a_clique("c", 2)), groups=(_BC,), template=_QUICK
)
IMPATIENT = Shape((a_clique("worker", 2),), template=_QUICK)
ORDERED = Shape(_TRIO, groups=(a_group("sg", "b", "c", replicas=2, least=2),), startup=IN_ORDER)
ORDERED_SCALED = Shape(_TRIO, groups=(_BC,), startup=IN_ORDER)
_AFTER_A = (
    a_clique("a", 1),
    a_clique("b", 1, startsAfter=["c"]),
    a_clique("c", 1, startsAfter=["a"]),
)
WRITTEN_DOWN = Shape(
    _AFTER_A, groups=(a_group("sg", "b", "c", replicas=2, least=2),), startup=EXPLICIT
)
WRITTEN_DOWN_SCALED = Shape(_AFTER_A, groups=(_BC,), startup=EXPLICIT)
EVERYTHING = Shape(
    (a_clique("a", 1, autoScalingConfig=_SCALING), a_clique("b", 1), a_clique("c", 1)),
    groups=(a_group("sg", "b", "c", replicas=2, scaleConfig=_SCALING),),
    startup=IN_ORDER,
)
OWN_SIZE = Shape((a_clique("w", 1),), groups=(a_group("sg", "w"),))
SMALL = Shape((a_clique("worker", 1),))
CAREFUL = Shape((a_clique("worker", 2, 1, annotations={AFTER_DEPARTURE: "true"}),))
GATED = Shape((a_clique("worker", 2, podSpec={**POD_SPEC, **_GATE}),))
URGENT = Shape((a_clique("worker", 1),), template=(("priorityClassName", "late"),))
ALIKE = Shape(
    (a_clique("worker", 1), a_clique("gpu-worker", 1), a_clique("worker-gpu", 1)), startup=IN_ORDER
)


def _shared(name: str, scope: str = "AllReplicas", **more: Any) -> dict[str, Any]:
    return {"name": name, "scope": scope, **more}


def _each(name: str, **more: Any) -> dict[str, Any]:
    return _shared(name, "PerReplica", **more)


SHARING = Shape(
    (
        a_clique("a", 1) | {"resourceSharing": [_each("pod"), _shared("far", namespace="blue")]},
        a_clique("b", 1) | {"resourceSharing": [_shared("b")]},
    ),
    groups=(
        a_group("sg", "b", replicas=2, least=2, resourceSharing=[_shared("sg"), _each("sg-each")]),
    ),
    template=(
        (
            "resourceClaimTemplates",
            [
                {"name": one, "templateSpec": {"spec": _DEVICES}}
                for one in ("set", "solo", "pod", "sg", "sg-each", "b")
            ],
        ),
        (
            "resourceSharing",
            [
                _shared("set"),
                _each("near"),
                _each("solo", filter={"childCliqueNames": ["a"]}),
            ],
        ),
    ),
)
LATE = Shape((a_clique("worker", 1) | {"resourceSharing": [_shared("late")]},))


def _template(at: float, name: str, namespace: str = RED) -> Act:
    body = {"metadata": {"name": name}, "spec": {"spec": _DEVICES}}
    return make(at, "resourceclaimtemplates", body, namespace)


_NEEDY = ("llm-0-a", "llm-0-sg-0-b", "llm-0-sg-0-c", "llm-0-sg-1-b", "llm-0-sg-1-c")
_TERMINATION = (
    story(
        "GT1: a clique that needs all its pods loses one",
        apply(NEEDY),
        *lost(20, 55, ("llm-0-a", 0)),
        fallen=_NEEDY,
    ),
    story(
        "GT2: a group that needs all its replicas loses a pod",
        apply(NEEDY),
        *lost(20, 55, ("llm-0-sg-0-c", 0)),
        fallen=_NEEDY,
    ),
    story(
        "GT3: a clique loses what it does not need",
        apply(SPARING),
        *lost(20, 55, ("llm-0-a", 0)),
        unharmed=("llm-0-a", "llm-0-sg-0-c", "llm-0-sg-1-c"),
    ),
    story(
        "GT4: a replica of a group that can be spared falls alone",
        apply(SPARING),
        *lost(20, 55, ("llm-0-sg-1-c", 0), ("llm-0-sg-1-c", 1)),
        unharmed=("llm-0-a", "llm-0-sg-0-b", "llm-0-sg-0-c"),
        fallen=("llm-0-sg-1-b", "llm-0-sg-1-c"),
    ),
    story(
        "GT5: a member that needs all its pods takes its replica along",
        apply(DEMANDING),
        *lost(20, 55, ("llm-0-sg-1-c", 0)),
        unharmed=("llm-0-a", "llm-0-sg-0-b", "llm-0-sg-0-c"),
        fallen=("llm-0-sg-1-b", "llm-0-sg-1-c"),
    ),
    story(
        "GT6: a pod of a scaled gang is replaced",
        apply(SPARING),
        pod(6, "kill_pod", "llm-0-sg-1-c", 0),
        unharmed=("llm-0-a", "llm-0-sg-0-b", "llm-0-sg-0-c", "llm-0-sg-1-b", "llm-0-sg-1-c"),
    ),
    story(
        "a recycle keeps what was scaled",
        apply(SPARING),
        scale(15, "podcliques", "llm-0-a", 3),
        scale(15, "podcliquescalinggroups", "llm-0-sg", 3),
        *lost(30, 65, *(("llm-0-a", index) for index in range(3))),
        fallen=("llm-0-a", "llm-0-sg-0-c", "llm-0-sg-1-c", "llm-0-sg-2-c"),
        pods={
            "red/llm-0-a Running": 3,
            **{f"red/llm-0-sg-{index}-b Running": 1 for index in range(3)},
            **{f"red/llm-0-sg-{index}-c Running": 2 for index in range(3)},
        },
    ),
    story(
        "a set that never was up is left alone",
        Act(0.5, "decree", {"clique": "llm-0-worker", "fate": "pending"}),
        apply(IMPATIENT),
        Act(25, "decree", {"clique": "llm-0-worker", "fate": "ready"}),
        unharmed=("llm-0-worker",),
    ),
    story(
        "a breach of one replica is no business of the next",
        apply(IMPATIENT, 2),
        *lost(20, 55, ("llm-0-worker", 0)),
        unharmed=("llm-1-worker",),
        fallen=("llm-0-worker",),
    ),
)
_ORDER = (
    story("SO1: in the order of the list", apply(ORDERED)),
    story("SO2: a scaled gang has an order of its own", apply(ORDERED_SCALED)),
    story("SO3: in an order that is written down", apply(WRITTEN_DOWN)),
    story("SO4: written down, and in a scaled gang", apply(WRITTEN_DOWN_SCALED)),
    story(
        "a replacement waits again", apply(ORDERED_SCALED), pod(6, "kill_pod", "llm-0-sg-0-c", 0)
    ),
    story("names that begin and end alike", apply(ALIKE), apply(SMALL, name="llm-0")),
)
_CLAIMS = (
    story(
        "RS1: claims follow every level",
        _template(0.2, "far", "blue"),
        _template(0.2, "near"),
        apply(SHARING),
        scale(5, "podcliquescalinggroups", "llm-0-sg", 1),
        scale(8, "podcliquescalinggroups", "llm-0-sg", 3),
        scale(11, "podcliques", "llm-0-a", 2),
        scale(14, "podcliques", "llm-0-a", 1),
        resize(17, 2),
        resize(20, 1),
    ),
    story("a claim template comes late", apply(LATE), _template(6, "late")),
)
_SCALE = (
    story(
        "a set is scaled again and again",
        apply(SMALL, 2),
        *(resize(3 + 3 * turn, replicas) for turn, replicas in enumerate((3, 1, 0, 2))),
    ),
    story(
        "steps are not waited for",
        apply(SMALL),
        *(resize(1.2 + 0.05 * turn, replicas) for turn, replicas in enumerate((4, 0, 3, 1, 2))),
    ),
    story(
        "a group of its own size in every replica",
        apply(OWN_SIZE, 2),
        scale(5, "podcliquescalinggroups", "llm-1-sg", 3),
    ),
    story("a set with everything is deleted", apply(EVERYTHING, 2), delete(6)),
)
_HEALING = (
    story(
        "a pod hangs for ever",
        apply(SPARING),
        pod(6, "hang_pod", "llm-0-a", 0),
        pod(8, "hang_pod", "llm-0-sg-0-c", 1),
    ),
    story("a pod is evicted", apply(SPARING), pod(6, "evict_pod", "llm-0-a", 1)),
    story(
        "a replacement waits for the departure",
        apply(CAREFUL),
        *(Act(5, "silence_node", {"node": node}) for node in NODES),
        *(Act(15, "revive_node", {"node": node}) for node in NODES),
    ),
    story(
        "everything that was made is deleted",
        apply(EVERYTHING),
        child(6, "delete_child", "horizontalpodautoscalers", "llm-0-a"),
        child(7, "delete_child", "horizontalpodautoscalers", "llm-0-sg"),
        child(8, "delete_child", "roles", f"grove.io:pcs:{NAME}"),
        child(9, "delete_child", "rolebindings", f"grove.io:pcs:{NAME}"),
        child(10, "delete_child", "podgangs", "llm-0-sg-0"),
        child(11, "delete_child", "podcliques", "llm-0-sg-0-b"),
    ),
    story(
        "metadata alone reaches the gangs",
        apply(SPARING),
        edit(5, {"metadata": {"labels": {"kai.scheduler/queue": "other"}}}),
        edit(7, {"metadata": {"annotations": {"kai.scheduler/queue": "other"}}}),
        unharmed=("llm-0-a", "llm-0-sg-0-b", "llm-0-sg-0-c", "llm-0-sg-1-b", "llm-0-sg-1-c"),
    ),
    story(
        "a name is held by somebody else, who goes",
        make(0.2, "services", {"metadata": {"name": "llm-0"}, "spec": {"ports": [{"port": 80}]}}),
        apply(SMALL),
        child(8, "delete_child", "services", "llm-0"),
    ),
    story(
        "gates of users are theirs to lift",
        apply(GATED),
        pod(4, "lift_gates", "llm-0-worker", 0),
        pod(4, "lift_gates", "llm-0-worker", 1),
    ),
    story(
        "a priority class comes late",
        apply(URGENT),
        make(6, "priorityclasses", {"metadata": {"name": "late"}, "value": 1000}, ""),
    ),
)


def _examples() -> tuple[Story, ...]:
    return tuple(
        story(f"the example {path.stem}", Act(1, "apply", {"namespace": RED, "body": body}))
        for path in sorted(EXAMPLES.glob("*.yaml"))
        for body in [yaml.safe_load(path.read_text())]
    )


GROVE: tuple[Story, ...] = (
    *_TERMINATION,
    *_ORDER,
    *_CLAIMS,
    *_SCALE,
    *_HEALING,
    *_examples(),
)
