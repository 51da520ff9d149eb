# SPDX-License-Identifier: Apache-2.0
"""The stories that are told with a fault at every place: short, and one idea each."""

from __future__ import annotations

from tests.sim.acts import (
    NAME,
    RED,
    apply,
    child,
    decree,
    delete,
    edit,
    pod,
    recreate,
    resize,
    scale,
    story,
)
from tests.sim.chronicle import HOLDING
from tests.sim.grove import GROVE
from tests.sim.rolling import ROLLOUTS
from tests.sim.shapes import SHAPES
from tests.sim.story import Act, Story

_ALL = (
    story("a set is made", apply(SHAPES["pair"])),
    story("a set with groups is made", apply(SHAPES["grouped"])),
    story("cliques start in order", apply(SHAPES["ordered"])),
    story(
        "a clique is autoscaled",
        apply(SHAPES["autoscaled"]),
        scale(5, "podcliques", "llm-0-worker", 3),
    ),
    story("a set is scaled out", apply(SHAPES["single"]), resize(5, 2)),
    story("a set is scaled in", apply(SHAPES["single"], 2), resize(5, 1)),
    story("a set is scaled to nothing", apply(SHAPES["grouped"]), resize(6, 0)),
    story(
        "a clique is scaled out and in",
        apply(SHAPES["slack"]),
        scale(5, "podcliques", "llm-0-worker", 5),
        scale(9, "podcliques", "llm-0-worker", 1),
    ),
    story(
        "a clique of a group is scaled out and in",
        apply(SHAPES["grouped"]),
        scale(5, "podcliques", "llm-0-decode-1-leader", 3),
        scale(9, "podcliques", "llm-0-decode-1-leader", 2),
    ),
    story(
        "a clique is scaled to nothing and back",
        apply(SHAPES["slack"]),
        scale(5, "podcliques", "llm-0-worker", 0),
        scale(9, "podcliques", "llm-0-worker", 2),
    ),
    story(
        "a clique is scaled below its minimum",
        apply(SHAPES["single"]),
        scale(5, "podcliques", "llm-0-worker", 1),
    ),
    story(
        "a group is scaled out and in",
        apply(SHAPES["wide"]),
        scale(5, "podcliquescalinggroups", "llm-0-prefill", 4),
        scale(9, "podcliquescalinggroups", "llm-0-prefill", 2),
    ),
    story(
        "a group falls below its minimum and grows again",
        apply(SHAPES["wide"]),
        scale(5, "podcliquescalinggroups", "llm-0-prefill", 1),
        scale(8, "podcliquescalinggroups", "llm-0-prefill", 4),
    ),
    story("a pod is deleted", apply(SHAPES["slack"]), pod(5, "kill_pod", "llm-0-worker", 1)),
    story(
        "a pod fails, and its successor too",
        apply(SHAPES["slack"]),
        pod(5, "end_pod", "llm-0-worker", 0, phase="Failed"),
        pod(8, "end_pod", "llm-0-worker", 0, phase="Failed"),
    ),
    story(
        "a pod is done",
        apply(SHAPES["slack"]),
        pod(5, "end_pod", "llm-0-worker", 2, phase="Succeeded"),
        pods={"red/llm-0-worker Running": 2, "red/llm-0-worker Succeeded": 1},
    ),
    story(
        "a node falls silent",
        apply(SHAPES["grouped"]),
        *(Act(5, "silence_node", {"node": f"node-{n}"}) for n in range(2)),
    ),
    story(
        "a gang is broken for too long",
        apply(SHAPES["impatient"]),
        decree(20, "llm-0-worker", "unready"),
        decree(55, "llm-0-worker", "ready"),
        fallen=("llm-0-worker",),
    ),
    story(
        "a replica of a group is broken for too long",
        apply(SHAPES["impatient-groups"]),
        decree(20, "llm-0-decode-1-worker", "unready"),
        decree(55, "llm-0-decode-1-worker", "ready"),
        fallen=("llm-0-decode-1-leader", "llm-0-decode-1-worker"),
    ),
    story("a set is deleted", apply(SHAPES["grouped"]), delete(6)),
    story(
        "a set is deleted after its children",
        apply(SHAPES["grouped"]),
        delete(6, policy="Foreground"),
    ),
    story(
        "a set is deleted, and somebody holds it",
        apply(SHAPES["grouped"]),
        edit(20, {"metadata": {"finalizers": [HOLDING]}}),
        delete(21),
        child(120, "delete_child", "services", "llm-0"),
        child(121, "delete_child", "podcliques", "llm-0-router"),
    ),
    story(
        "a set is deleted while it starts",
        apply(SHAPES["grouped"]),
        delete(1.1),
    ),
    story(
        "a set is deleted and made anew at once",
        apply(SHAPES["pair"]),
        recreate(5, SHAPES["pair"], 2),
    ),
    story(
        "a set is made anew with other cliques while it starts",
        apply(SHAPES["grouped"]),
        recreate(1.15, SHAPES["single"]),
    ),
    story(
        "children are deleted",
        apply(SHAPES["grouped"]),
        child(5, "delete_child", "podgangs", "llm-0"),
        child(6, "delete_child", "services", "llm-0"),
        child(7, "delete_child", "podcliques", "llm-0-router"),
        child(8, "delete_child", "podcliquescalinggroups", "llm-0-decode"),
    ),
    story(
        "children go while nobody looks",
        apply(SHAPES["grouped"]),
        Act(5, "lose_history", {"instance": 0}),
        child(5, "delete_child", "services", "llm-0"),
        Act(8, "lose_history", {"instance": 0}),
        child(8, "delete_child", "podcliques", "llm-0-decode-1-worker"),
        Act(11, "lose_history", {"instance": 0}),
        pod(11, "kill_pod", "llm-0-router", 0),
        Act(14, "lose_history", {"instance": 0}),
        scale(14, "podcliquescalinggroups", "llm-0-decode", 1),
        # When nothing else happens that could wake anybody.
        Act(40, "lose_history", {"instance": 0}),
        child(40, "delete_child", "services", "llm-0"),
    ),
    story(
        "labels are stripped",
        apply(SHAPES["single"]),
        child(5, "strip_labels", "services", "llm-0"),
        child(5.5, "strip_labels", "podcliques", "llm-0-worker"),
        child(6, "strip_labels", "podgangs", "llm-0"),
        pod(6.5, "strip_pod", "llm-0-worker", 0),
    ),
    story(
        "others leave their marks",
        apply(SHAPES["single"]),
        child(4, "annotate", "podcliques", "llm-0-worker"),
        child(4, "annotate", "podgangs", "llm-0"),
        pod(6, "kill_pod", "llm-0-worker", 0),
    ),
    story(
        "a label comes and goes",
        apply(SHAPES["pair"]),
        edit(4, {"metadata": {"labels": {"example.com/a": "1"}}}),
        edit(7, {"metadata": {"labels": {"example.com/a": None}}}),
    ),
    story(
        "a set is changed and rolled back",
        apply(SHAPES["slack"]),
        edit(4, {"spec": {"template": {"terminationDelay": "20s"}}}),
        Act(7, "roll_back", {"namespace": RED, "name": NAME, "steps": 1}),
    ),
)

SCENARIOS: dict[str, Story] = {one.name: one for one in (*_ALL, *GROVE, *ROLLOUTS)}
