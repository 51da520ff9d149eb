# SPDX-License-Identifier: Apache-2.0
"""Pods, and what may or may not be changed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.fuzz.kinds import NODE

if TYPE_CHECKING:
    from random import Random

IMAGES = ("registry.example/a:1", "registry.example/a:2", "")
PATHS = (
    "/spec/containers/0/image",
    "/spec/containers/0/env",
    "/spec/containers/-",
    "/spec/tolerations",
    "/spec/tolerations/-",
    "/spec/activeDeadlineSeconds",
    "/spec/schedulingGates",
    "/spec/nodeSelector",
    "/spec/priority",
    "/metadata/annotations/r",
    "/metadata/labels",
    "/status/phase",
)


def spec(rng: Random) -> dict[str, Any]:
    """One that can be created, mostly."""
    containers = [container(rng, name) for name in ("main", "side")[: rng.randint(1, 2)]]
    optional: tuple[tuple[float, str, Any], ...] = (
        (0.3, "initContainers", [container(rng, "init")]),
        (0.3, "schedulingGates", [{"name": name} for name in ("one", "two")[: rng.randint(1, 2)]]),
        (0.3, "tolerations", [_toleration(rng)]),
        (0.3, "nodeSelector", {rng.choice("kl"): "1"}),
        (0.3, "volumes", [{"name": "data", "emptyDir": {}}]),
        (0.2, "restartPolicy", rng.choice(("Never", "OnFailure", "Sometimes"))),
        (0.2, "securityContext", {"runAsUser": rng.choice((0, 1000))}),
        (0.15, "nodeName", NODE),
    )
    drawn = {name: value for share, name, value in optional if rng.random() < share}
    return {"schedulerName": "nobody", "containers": containers, **drawn}


def container(rng: Random, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "image": rng.choice(IMAGES[:2])}
    if rng.random() < 0.4:
        drawn = rng.sample(("A", "B", "C"), rng.randint(1, 2))
        found["env"] = [{"name": key, "value": rng.choice("12")} for key in drawn]
    if rng.random() < 0.4:
        protocols = rng.sample(("TCP", "UDP", None), rng.randint(1, 2))
        found["ports"] = [
            {"containerPort": 80, **({"protocol": protocol} if protocol else {})}
            for protocol in protocols
        ]
    if rng.random() < 0.4:
        found["resources"] = {
            rng.choice(("limits", "requests")): {rng.choice(("cpu", "memory")): rng.choice("12")}
        }
    if rng.random() < 0.2:
        found["command"] = ["run", rng.choice("12")]
    return found


def spec_change(rng: Random) -> dict[str, Any]:
    """What an update or a patch says of the spec: allowed, forbidden or nothing new."""
    choices: tuple[dict[str, Any], ...] = (
        {"containers": [{"name": "main", "image": rng.choice(IMAGES)}]},
        {"containers": [container(rng, "main")]},
        {"containers": [container(rng, rng.choice(("main", "side", "more")))]},
        {"activeDeadlineSeconds": rng.choice((None, 10, 20))},
        {"tolerations": [_toleration(rng) for _ in range(rng.randint(0, 2))]},
        {"schedulingGates": rng.choice(([], [{"name": "one"}], [{"name": "three"}], None))},
        {"nodeSelector": {rng.choice("kl"): rng.choice(("1", "2", None))}},
        {"terminationGracePeriodSeconds": rng.choice((1, 30, None))},
        {"containers": [{"name": "main", "$patch": "delete"}]},
        {"$setElementOrder/containers": [{"name": "side"}, {"name": "main"}]},
        {"priority": rng.choice((0, 5))},
        {},
    )
    return rng.choice(choices)


def status(rng: Random) -> dict[str, Any]:
    return {
        "phase": rng.choice(("Pending", "Running", "Failed", "Odd")),
        "conditions": [
            {"type": rng.choice(("Ready", "Own")), "status": rng.choice(("True", "No"))}
        ],
        **({"message": rng.choice("12")} if rng.random() < 0.5 else {}),
        **({"podIP": "10.0.0.1"} if rng.random() < 0.3 else {}),
    }


def value_at(rng: Random, path: str) -> Any:
    if path == "/spec/containers/-":
        return container(rng, rng.choice(("side", "more")))
    if path.endswith("/-"):
        return _toleration(rng)
    values: dict[str, tuple[Any, ...]] = {
        "image": IMAGES,
        "env": ([], [{"name": "A", "value": "9"}]),
        "tolerations": ([], [_toleration(rng)]),
        "activeDeadlineSeconds": (5, 10, None, "x"),
        "schedulingGates": ([], [{"name": "one"}], None),
        "nodeSelector": ({}, {"k": "1"}, {"k": "1", "l": "2"}),
        "priority": (0, 5),
        "labels": ({}, {"p": "3"}, None, {"p": 3}),
        "phase": ("Running", "Failed"),
    }
    return rng.choice(values.get(path.rpartition("/")[2], ("1", "2", 3)))


def _toleration(rng: Random) -> dict[str, Any]:
    return {"key": rng.choice("ab"), "operator": "Exists", "effect": rng.choice(("NoSchedule", ""))}
