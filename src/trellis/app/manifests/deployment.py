# SPDX-License-Identifier: Apache-2.0
"""The operator's namespace, its Deployment, and what keeps one of its pods running at all times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.app.manifests.pod import pod_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation

# The oldest release we run on: what `restricted` demands must not grow with the cluster under us.
_ENFORCED = "v1.32"


def namespace(installation: Installation) -> Manifest:
    metadata = installation.metadata(installation.namespace, "namespace")
    security = {"enforce": "restricted", "enforce-version": _ENFORCED}
    security |= {"audit": "restricted", "warn": "restricted"}
    for name, value in security.items():
        metadata["labels"][f"pod-security.kubernetes.io/{name}"] = value
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def deployment(controllers: Sequence[str], config_map: str, installation: Installation) -> Manifest:
    metadata = installation.namespaced(installation.name, "deployment")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": installation.replicas,
            "selector": {"matchLabels": installation.selector},
            # The new ones must be ready before an old one goes: webhooks fail closed.
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "template": {
                "metadata": {"labels": metadata["labels"]},
                "spec": pod_spec(controllers, config_map, installation),
            },
        },
    }


def disruption_budget(installation: Installation) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": installation.namespaced(installation.name, "poddisruptionbudget"),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": installation.selector},
            # A pod that is broken anyhow must not hold up the drain of its node.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
