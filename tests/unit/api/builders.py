# SPDX-License-Identifier: Apache-2.0
"""Small objects with boring defaults."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from trellis.api.grove.podclique import PodCliqueSpec
from trellis.api.grove.template import CliqueTemplate

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POD_SPEC: dict[str, Any] = {"containers": [{"name": "main", "image": "registry.example/a:1"}]}


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def a_clique(pod_spec: dict[str, Any] | None = None, **fields: Any) -> CliqueTemplate:
    spec = PodCliqueSpec(
        role_name="worker", replicas=fields.pop("replicas", 2), pod_spec=raw(pod_spec or POD_SPEC)
    )
    return CliqueTemplate(name=fields.pop("name", "worker"), spec=spec, **fields)
