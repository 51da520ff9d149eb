# SPDX-License-Identifier: Apache-2.0
"""The stories that are told with a fault at every place: short, and one idea each."""

from __future__ import annotations

from typing import Any

from tests.sim.shapes import SHAPES
from tests.sim.story import Act, Story

RED = "red"
NAME = "llm"


def _set(shape: str, replicas: int = 1, name: str = NAME) -> dict[str, Any]:
    return SHAPES[shape].body(name, replicas)


def _apply(shape: str, replicas: int = 1, at: float = 1.0) -> Act:
    return Act(at, "apply", {"namespace": RED, "body": _set(shape, replicas)})


def _scale(at: float, plural: str, name: str, replicas: int) -> Act:
    where = {"plural": plural, "namespace": RED, "name": name}
    return Act(at, "scale", {**where, "replicas": replicas})


def _child(at: float, what: str, plural: str, name: str) -> Act:
    return Act(at, what, {"plural": plural, "namespace": RED, "name": name})


def _pod(at: float, what: str, clique: str, index: int, **more: Any) -> Act:
    return Act(at, what, {"namespace": RED, "clique": clique, "index": index, **more})


def _story(name: str, *acts: Act, **more: Any) -> Story:
    return Story(name=name, seed=1, acts=acts, **more)


_ALL = (
    _story("a set is made", _apply("pair")),
    _story("a set with groups is made", _apply("grouped")),
    _story("cliques start in order", _apply("ordered")),
    _story(
        "a clique is autoscaled", _apply("autoscaled"), _scale(5, "podcliques", "llm-0-worker", 3)
    ),
    _story("a set is scaled out", _apply("single"), _scale(5, "podcliquesets", NAME, 2)),
    _story("a set is scaled in", _apply("single", 2), _scale(5, "podcliquesets", NAME, 1)),
    _story("a set is scaled to nothing", _apply("grouped"), _scale(6, "podcliquesets", NAME, 0)),
    _story(
        "a clique is scaled out and in",
        _apply("slack"),
        _scale(5, "podcliques", "llm-0-worker", 5),
        _scale(9, "podcliques", "llm-0-worker", 1),
    ),
    _story(
        "a clique is scaled to nothing and back",
        _apply("slack"),
        _scale(5, "podcliques", "llm-0-worker", 0),
        _scale(9, "podcliques", "llm-0-worker", 2),
    ),
    _story(
        "a clique is scaled below its minimum",
        _apply("single"),
        _scale(5, "podcliques", "llm-0-worker", 1),
    ),
    _story(
        "a group is scaled out and in",
        _apply("wide"),
        _scale(5, "podcliquescalinggroups", "llm-0-prefill", 4),
        _scale(9, "podcliquescalinggroups", "llm-0-prefill", 2),
    ),
    _story(
        "a group falls below its minimum and grows again",
        _apply("wide"),
        _scale(5, "podcliquescalinggroups", "llm-0-prefill", 1),
        _scale(8, "podcliquescalinggroups", "llm-0-prefill", 4),
    ),
    _story("a pod is deleted", _apply("slack"), _pod(5, "kill_pod", "llm-0-worker", 1)),
    _story(
        "a pod fails, and its successor too",
        _apply("slack"),
        _pod(5, "end_pod", "llm-0-worker", 0, phase="Failed"),
        _pod(8, "end_pod", "llm-0-worker", 0, phase="Failed"),
    ),
    _story(
        "a pod is done",
        _apply("slack"),
        _pod(5, "end_pod", "llm-0-worker", 2, phase="Succeeded"),
        pods={"red/llm-0-worker Running": 2, "red/llm-0-worker Succeeded": 1},
    ),
    _story(
        "a node falls silent",
        _apply("grouped"),
        *(Act(5, "silence_node", {"node": f"node-{n}"}) for n in range(2)),
    ),
    _story(
        "a gang is broken for too long",
        _apply("impatient"),
        Act(6, "decree", {"clique": "llm-0-worker", "fate": "unready"}),
        Act(25, "decree", {"clique": "llm-0-worker", "fate": "ready"}),
    ),
    _story(
        "a replica of a group is broken for too long",
        _apply("impatient-groups"),
        Act(6, "decree", {"clique": "llm-0-decode-1-worker", "fate": "unready"}),
        Act(25, "decree", {"clique": "llm-0-decode-1-worker", "fate": "ready"}),
    ),
    _story(
        "a set is deleted", _apply("grouped"), Act(6, "delete", {"namespace": RED, "name": NAME})
    ),
    _story(
        "a set is deleted while it starts",
        _apply("grouped"),
        Act(1.1, "delete", {"namespace": RED, "name": NAME}),
    ),
    _story(
        "a set is deleted and made anew at once",
        _apply("pair"),
        Act(5, "recreate", {"namespace": RED, "body": _set("pair", 2)}),
    ),
    _story(
        "a set is made anew with other cliques while it starts",
        _apply("grouped"),
        Act(1.15, "recreate", {"namespace": RED, "body": _set("single")}),
    ),
    _story(
        "children are deleted",
        _apply("grouped"),
        _child(5, "delete_child", "podgangs", "llm-0"),
        _child(6, "delete_child", "services", "llm-0"),
        _child(7, "delete_child", "podcliques", "llm-0-router"),
        _child(8, "delete_child", "podcliquescalinggroups", "llm-0-decode"),
    ),
    _story(
        "labels are stripped",
        _apply("single"),
        _child(5, "strip_labels", "services", "llm-0"),
        _child(5.5, "strip_labels", "podcliques", "llm-0-worker"),
        _child(6, "strip_labels", "podgangs", "llm-0"),
        _pod(6.5, "strip_pod", "llm-0-worker", 0),
    ),
    _story(
        "others leave their marks",
        _apply("single"),
        _child(4, "annotate", "podcliques", "llm-0-worker"),
        _child(4, "annotate", "podgangs", "llm-0"),
        _pod(6, "kill_pod", "llm-0-worker", 0),
    ),
    _story(
        "a label comes and goes",
        _apply("pair"),
        Act(
            4,
            "edit",
            {
                "namespace": RED,
                "name": NAME,
                "patch": {"metadata": {"labels": {"example.com/a": "1"}}},
            },
        ),
        Act(
            7,
            "edit",
            {
                "namespace": RED,
                "name": NAME,
                "patch": {"metadata": {"labels": {"example.com/a": None}}},
            },
        ),
    ),
    _story(
        "a set is changed and rolled back",
        _apply("slack"),
        Act(
            4,
            "edit",
            {
                "namespace": RED,
                "name": NAME,
                "patch": {"spec": {"template": {"terminationDelay": "20s"}}},
            },
        ),
        Act(7, "roll_back", {"namespace": RED, "name": NAME, "steps": 1}),
    ),
)

SCENARIOS: dict[str, Story] = {story.name: story for story in _ALL}
