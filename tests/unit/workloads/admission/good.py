# SPDX-License-Identifier: Apache-2.0
"""The manifests that must be admitted, and the operator that is to admit each."""

from __future__ import annotations

from typing import Any

import yaml

from tests.unit.workloads.admission.corpus import FOLDER
from trellis.api.config import OperatorConfiguration
from trellis.api.config.types import SchedulerProfile, Schedulers, Topology
from trellis.api.grove.clustertopology import DOMAINS, TopologyLevel


def good() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((FOLDER / "good.yaml").read_text())
    return found


def configured(enabled: dict[str, bool]) -> OperatorConfiguration:
    profiles = (SchedulerProfile(name="kai-scheduler"),) if enabled.get("kai") else ()
    levels = tuple(TopologyLevel(domain=one, key=f"example.com/{one}") for one in DOMAINS)
    return OperatorConfiguration(
        scheduler=Schedulers(profiles=profiles),
        cluster_topology=Topology(enabled=enabled.get("topology", False), levels=levels),
    )
