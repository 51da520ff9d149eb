# SPDX-License-Identifier: Apache-2.0
"""The kinds these tests use, as lean as they need them, and a reader that keeps what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import Resource
from trellis.kube.events import Delta, Snapshot

if TYPE_CHECKING:
    from trellis.kube.watch import Watch

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")
SERVICE_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
PODS = Resource("", "v1", "Pod", "pods")
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments")
BUDGETS = Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
ROLE_BINDINGS = Resource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
FLOW_SCHEMAS = Resource(
    "flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", namespaced=False
)
PRIORITY_LEVELS = Resource(
    "flowcontrol.apiserver.k8s.io",
    "v1",
    "PriorityLevelConfiguration",
    "prioritylevelconfigurations",
    namespaced=False,
)


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: str = ""


class ConfigMap(msgspec.Struct, frozen=True):
    metadata: Meta
    data: dict[str, str] = {}


def a_config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels or {}},
        "data": data,
    }


def a_pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "example.com/none"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"schedulerName": "nobody", "containers": containers, **spec},
    }


class Seen:
    """The data of config maps as a watch tells it, by name."""

    def __init__(self) -> None:
        self.state: dict[str, dict[str, str]] = {}
        self.snapshots = 0
        self.version = 0

    def take(self, update: Snapshot[ConfigMap] | Delta[ConfigMap]) -> None:
        assert int(update.resource_version) >= self.version
        self.version = int(update.resource_version)
        if isinstance(update, Snapshot):
            self.snapshots += 1
            self.state = {each.metadata.name: each.data for each in update.objects}
            return
        for change in update.changes:
            if change.object is None:
                self.state.pop(change.name, None)
            else:
                self.state[change.name] = change.object.data

    async def follow(self, watch: Watch[ConfigMap]) -> None:
        async for update in watch:
            self.take(update)
