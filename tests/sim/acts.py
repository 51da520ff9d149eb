# SPDX-License-Identifier: Apache-2.0
"""Deeds of scenarios by a few words: one namespace, and one set that is called `llm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.sim.story import Act, Story

if TYPE_CHECKING:
    from tests.sim.shapes import Shape

RED = "red"
NAME = "llm"
ROLLING, BY_HAND = STRATEGIES = ("RollingRecreate", "OnDelete")


def apply(shape: Shape, replicas: int = 1, at: float = 1.0, name: str = NAME) -> Act:
    return Act(at, "apply", {"namespace": RED, "body": shape.body(name, replicas)})


def scale(at: float, plural: str, name: str, replicas: int) -> Act:
    where = {"plural": plural, "namespace": RED, "name": name}
    return Act(at, "scale", {**where, "replicas": replicas})


def resize(at: float, replicas: int) -> Act:
    """Of the set itself."""
    return scale(at, "podcliquesets", NAME, replicas)


def child(at: float, what: str, plural: str, name: str) -> Act:
    return Act(at, what, {"plural": plural, "namespace": RED, "name": name})


def pod(at: float, what: str, clique: str, index: int, **more: Any) -> Act:
    return Act(at, what, {"namespace": RED, "clique": clique, "index": index, **more})


def edit(at: float, patch: dict[str, Any]) -> Act:
    return Act(at, "edit", {"namespace": RED, "name": NAME, "patch": patch})


def version(number: int) -> str:
    """An image. That of the first is what sets begin with."""
    return f"registry.example/app:{number}"


def image(number: int) -> dict[str, Any]:
    """The patch of a clique that gives its pods another image."""
    container = {"name": "main", "image": version(number)}
    return {"spec": {"podSpec": {"containers": [container]}}}


def strategy(kind: str) -> dict[str, Any]:
    """The patch of a set that has it updated in another way."""
    return {"spec": {"updateStrategy": {"type": kind}}}


def update(at: float, clique: str, number: int = 2) -> Act:
    where = {"namespace": RED, "name": NAME, "clique": clique}
    return Act(at, "edit_clique", {**where, "patch": image(number)})


def switch(at: float, kind: str) -> Act:
    return edit(at, strategy(kind))


def delete(at: float, **more: str) -> Act:
    return Act(at, "delete", {"namespace": RED, "name": NAME, **more})


def recreate(at: float, shape: Shape, replicas: int = 1) -> Act:
    return Act(at, "recreate", {"namespace": RED, "body": shape.body(NAME, replicas)})


def decree(at: float, clique: str, fate: str, image: str = "") -> Act:
    """`image`: for pods with that one only."""
    only = {"image": image} if image else {}
    return Act(at, "decree", {"clique": clique, "fate": fate, **only})


def make(at: float, plural: str, body: dict[str, Any], namespace: str = RED) -> Act:
    """Something that is none of ours."""
    return Act(at, "make", {"plural": plural, "namespace": namespace, "body": body})


def lost(at: float, until: float, *pods: tuple[str, int]) -> tuple[Act, ...]:
    """Pods that are deleted, and whose successors get no node before then."""
    cliques = dict.fromkeys(clique for clique, _ in pods)
    return (
        *(decree(at, clique, "pending") for clique in cliques),
        *(pod(at + 0.1, "kill_pod", clique, index) for clique, index in pods),
        *(decree(until, clique, "ready") for clique in cliques),
    )


def story(name: str, *acts: Act, **more: Any) -> Story:
    ordered = tuple(sorted(acts, key=lambda act: act.at))
    return Story(name=name, seed=1, acts=ordered, **more)
