# SPDX-License-Identifier: Apache-2.0
"""What a cluster has before anybody asks for anything: namespaces, roles, priorities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.access import bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_CRITICAL = {
    "system-cluster-critical": (
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary.",
    ),
    "system-node-critical": (
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
}


def objects() -> Iterator[Object]:
    """In the order in which they are made. Those that a restart finds already there are skipped."""
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield from bootstrap.objects()
    for name, (value, description) in _CRITICAL.items():
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {"ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]},
    }
