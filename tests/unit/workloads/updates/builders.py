# SPDX-License-Identifier: Apache-2.0
"""Pods and replicas in an update, by a few words with boring defaults."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from trellis.workloads.updates import (
    Budget,
    CliqueState,
    GroupState,
    MemberFacts,
    PodFacts,
    ReplicaFacts,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD, NEW = "v1-old", "v1-new"


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def ready(index: int, template: str = OLD, *, age: float = 600, **more: Any) -> PodFacts:
    """A pod that is Ready since shortly after it was made."""
    born = ago(age)
    given: dict[str, Any] = {"created": born, "since": born + timedelta(seconds=1)} | more
    return PodFacts(
        index=index, name=f"pod-{index}", template=template, ready=True, was_ready=True, **given
    )


def unready(index: int, template: str = OLD, *, down: float = 600, **more: Any) -> PodFacts:
    """A pod that was Ready once, and has not been for so many seconds."""
    given: dict[str, Any] = {"created": ago(3600), "since": ago(down), "was_ready": True} | more
    return PodFacts(index=index, name=f"pod-{index}", template=template, **given)


def pending(index: int, template: str = OLD) -> PodFacts:
    return PodFacts(
        index=index, name=f"pod-{index}", template=template, created=ago(5), pending=True
    )


def waiting(index: int, template: str = OLD) -> PodFacts:
    """One that the scheduler has not found room for, for long."""
    return replace(pending(index, template), created=ago(60), roomless=True)


def missing(index: int) -> PodFacts:
    """A name that is listed, and its pod is yet to be made."""
    return PodFacts(index=index, name=f"pod-{index}", exists=False)


def a_clique(*pods: PodFacts, most: int = 1, **more: Any) -> CliqueState:
    budget = Budget(max_unavailable=most, **more.pop("budget", {}))
    given: dict[str, Any] = {"now": NOW, "minimum": 1, "current": frozenset({NEW})} | more
    return CliqueState(pods=pods, budget=budget, **given)


def a_member(*pods: PodFacts, needed: int = 1, new: bool = False, **more: Any) -> MemberFacts:
    """A PodClique of a group's replica, with the older spec or, if it was rolled, with the new."""
    given: dict[str, Any] = {
        "carries": new,
        "released": new,
        "current": frozenset({NEW if new else OLD}),
    } | more
    return MemberFacts(clique="member", needed=needed, pods=pods, **given)


def a_replica(index: int, *members: MemberFacts) -> ReplicaFacts:
    return ReplicaFacts(index=index, members=members)


def well(index: int, *, new: bool = False, **more: Any) -> ReplicaFacts:
    """A replica of one member whose one pod is Ready."""
    return a_replica(index, a_member(ready(0, NEW if new else OLD), new=new, **more))


def a_group(*replicas: ReplicaFacts, most: int = 1, **more: Any) -> GroupState:
    budget = Budget(max_unavailable=most, **more.pop("budget", {}))
    given: dict[str, Any] = {"now": NOW, "minimum": 1} | more
    return GroupState(replicas=replicas, budget=budget, **given)
