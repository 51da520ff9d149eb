# SPDX-License-Identifier: Apache-2.0
"""Help for probes of controllers: templates, pods that a controller made, phases for them.

No kubelet runs in the lab: a pod has the phase that a probe gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import IMAGE, NOBODY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.probe import Probe
    from tests.support.api import Answer

_INDEX = "batch.kubernetes.io/job-completion-index"


def template(restart: str = "Never", **metadata: Any) -> dict[str, Any]:
    """A pod template; no scheduler takes its pods."""
    return {
        "metadata": metadata,
        "spec": {
            "schedulerName": NOBODY,
            "restartPolicy": restart,
            "containers": [{"name": "app", "image": IMAGE}],
        },
    }


async def until_pods(
    p: Probe, count: int, keep: Callable[[Any], bool] = lambda _: True
) -> list[dict[str, Any]]:
    """Waits for so many pods that are wanted; returns them, those of an Indexed Job in order."""

    def wanted(answer: Answer) -> list[dict[str, Any]]:
        return [item for item in answer.body["items"] if keep(item)]

    path = p.path("v1", "pods")
    answer = await p.until("GET", path, lambda answer: len(wanted(answer)) == count)
    return sorted(wanted(answer), key=_index)


async def until_no_pods(p: Probe) -> None:
    await until_pods(p, 0)


def alive(item: dict[str, Any]) -> bool:
    return item["status"]["phase"] in {"Pending", "Running"}


async def set_phase(p: Probe, item: dict[str, Any], phase: str, **status: Any) -> None:
    """Does what a kubelet would: tells how a pod is doing."""
    path = p.path("v1", "pods", item["metadata"]["name"], "status")
    await p.do("PATCH", path, {"status": {"phase": phase, **status}}, patch="strategic")


async def make_ready(p: Probe) -> None:
    for item in (await p.do("GET", p.path("v1", "pods")))["items"]:
        await set_phase(p, item, "Running", conditions=[{"type": "Ready", "status": "True"}])


def true_conditions(answer: Answer) -> set[str]:
    conditions = answer.body.get("status", {}).get("conditions", [])
    return {entry["type"] for entry in conditions if entry["status"] == "True"}


async def until_condition(p: Probe, path: str, name: str) -> None:
    await p.until("GET", path, lambda answer: name in true_conditions(answer))


def status_of(body: dict[str, Any]) -> Any:
    return body["status"]


def with_generation(body: dict[str, Any]) -> dict[str, Any]:
    return {"generation": body["metadata"]["generation"], "status": body["status"]}


def sorted_conditions(body: dict[str, Any]) -> dict[str, Any]:
    """Their order is that of their last changes, which controllers may make in one go or in two."""
    conditions = sorted(body["status"].get("conditions", []), key=lambda entry: str(entry["type"]))
    return {**body, "status": {**body["status"], "conditions": conditions}}


def _index(item: dict[str, Any]) -> str:
    found: str = item["metadata"].get("annotations", {}).get(_INDEX, "")
    return found
