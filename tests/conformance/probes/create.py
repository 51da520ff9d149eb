# SPDX-License-Identifier: Apache-2.0
"""POST: what is stored, what is refused, and what the server adds."""

from __future__ import annotations

from tests.conformance.builders import config_map, pod
from tests.conformance.probe import Probe, probe


@probe("a config map is created with 201 and comes back whole")
async def config_map_created(p: Probe) -> None:
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


@probe("an object that is there already is refused with 409 AlreadyExists")
async def exists_already(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


@probe("a pod comes back with every default filled in")
async def pod_defaults(p: Probe) -> None:
    await p.see("POST", p.path("v1", "pods"), pod("a"))
