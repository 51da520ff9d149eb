# SPDX-License-Identifier: Apache-2.0
"""Job: what a JobSet is made of."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from trellis.api.conditions import Condition
from trellis.api.meta import Object, Resource, Time, Value, detach

COMPLETE = "Complete"
FAILED = "Failed"
SUSPENDED = "Suspended"


class JobSpec(Value, frozen=True, kw_only=True):
    """How often and how its pods run. The template is raw: it may say more than is known here."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool | None = None
    template: msgspec.Raw

    def __post_init__(self) -> None:
        detach(self, "template")


class JobStatus(Value, frozen=True, kw_only=True):
    """How far it has come."""

    active: int = 0
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    conditions: tuple[Condition, ...] = ()
    start_time: Time | None = None
    completion_time: Time | None = None


class Job(Object, frozen=True, kw_only=True):
    """A Job."""

    resource: ClassVar = Resource("batch", "v1", "Job", "jobs")

    spec: JobSpec
    status: JobStatus = JobStatus()
