# SPDX-License-Identifier: Apache-2.0
"""Small objects with boring defaults, for probes. Metadata is given by keyword."""

from __future__ import annotations

from typing import Any

# A scheduler that does not exist: nobody touches the pod behind the probe's back.
NOBODY = "nobody"
IMAGE = "registry.example/app:1"


def config_map(name: str, data: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": data if data is not None else {"a": "1"},
    }


def pod(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """A pod that stays as it was made: no scheduler takes it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": {
            "schedulerName": NOBODY,
            "containers": [{"name": "app", "image": IMAGE}],
            **(spec or {}),
        },
    }
