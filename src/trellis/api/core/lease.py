# SPDX-License-Identifier: Apache-2.0
"""Lease: who leads."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.meta import Object, Resource, Value


class LeaseSpec(Value, frozen=True, kw_only=True):
    """The holder and its times, which are `MicroTime`s (`meta.to_micro_time`)."""

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: int = 0


class Lease(Object, frozen=True, kw_only=True):
    """A Lease."""

    resource: ClassVar = Resource("coordination.k8s.io", "v1", "Lease", "leases")

    spec: LeaseSpec = LeaseSpec()
