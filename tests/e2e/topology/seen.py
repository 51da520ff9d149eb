# SPDX-License-Identifier: Apache-2.0
"""What can be seen of topologies in a cluster, and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.topology.kai import KAI
from tests.support.api import Request
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.api import Api

    Body = dict[str, Any]

TOPOLOGIES = "/apis/grove.io/v1alpha1/clustertopologies"
MANAGED = "grove-topology"
OWN_PATH, KAI_PATH = f"{TOPOLOGIES}/{MANAGED}", f"{KAI}/{MANAGED}"
# The cluster's collector looks for new kinds every half minute only.
PATIENCE_SECONDS = 90.0
READY = {
    "Ready": ("True", "TopologyReady"),
    "Reconciling": ("False", "TopologyReady"),
    "Stalled": ("False", "TopologyReady"),
}


async def get(api: Api, path: str) -> Body | None:
    answer = await api.send(Request(method="GET", path=path))
    return answer.body if answer.status == 200 else None


async def until(api: Api, path: str, seen: Callable[[Body], object], what: str) -> Body:
    """The object once it is there and seen as it should be."""

    async def look() -> Body:
        found = await get(api, path)
        return found if found is not None and seen(found) else {}

    return await eventually(look, what, patience=PATIENCE_SECONDS)


async def until_gone(api: Api, path: str) -> None:
    async def gone() -> bool:
        return await get(api, path) is None

    await eventually(gone, f"{path} to be gone", patience=PATIENCE_SECONDS)


def conditions(topology: Body) -> dict[str, tuple[str, str]]:
    """The conditions, if they are about the spec that is there now."""
    status = topology.get("status", {})
    if status.get("observedGeneration") != topology["metadata"]["generation"]:
        return {}
    found = status["conditions"]
    return {each["type"]: (each.get("status", ""), each["reason"]) for each in found}


def message(topology: Body) -> str:
    ready = [each for each in topology["status"]["conditions"] if each["type"] == "Ready"]
    return str(ready[0]["message"])


async def until_ready(api: Api) -> Body:
    return await until(api, OWN_PATH, lambda found: conditions(found) == READY, "it to be ready")


def domains(topology: Body) -> list[str]:
    return [level["domain"] for level in topology["spec"]["levels"]]


def labels(kai: Body) -> list[str]:
    return [level["nodeLabel"] for level in kai["spec"]["levels"]]
