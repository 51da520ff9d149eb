# SPDX-License-Identifier: Apache-2.0
"""PriorityClass: who goes first."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.meta import Object, Resource


class PriorityClass(Object, frozen=True, kw_only=True):
    """A PriorityClass."""

    resource: ClassVar = Resource(
        "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
    )

    value: int
    global_default: bool = False
    preemption_policy: str = ""
