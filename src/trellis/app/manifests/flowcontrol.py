# SPDX-License-Identifier: Apache-2.0
"""The operator's share of the API server: its own, so that it neither starves nor crowds others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation

_API_VERSION = "flowcontrol.apiserver.k8s.io/v1"
# With as many, 600 requests at once are all served; with the share of any ServiceAccount, more
# than half were refused. While we do not need it, most of it is lent to others.
_SHARES = 200
_LENDABLE_PERCENT = 80
# A namespace is dealt 6 queues of 50, which is more than we ever have under way (256).
_QUEUING = {"queues": 64, "handSize": 6, "queueLengthLimit": 50}
# Before Kubernetes' own schema for ServiceAccounts (9000), behind those for its components.
_LEASE_PRECEDENCE = 250
_PRECEDENCE = 1000
_RENEWAL = ("create", "get", "patch", "update")


def flow_control(installation: Installation) -> Iterator[Manifest]:
    level = installation.name
    yield {
        "apiVersion": _API_VERSION,
        "kind": "PriorityLevelConfiguration",
        "metadata": installation.metadata(level, "prioritylevelconfiguration"),
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": _SHARES,
                "lendablePercent": _LENDABLE_PERCENT,
                "limitResponse": {"type": "Queue", "queuing": _QUEUING},
            },
        },
    }
    yield _leases(installation)
    yield _everything(installation, level)


def _leases(installation: Installation) -> Manifest:
    """A renewal must never wait behind our own work: whoever misses it stops leading."""
    rule = {
        "verbs": list(_RENEWAL),
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "namespaces": [installation.namespace],
    }
    return _schema(
        installation,
        f"{installation.name}-leader-election",
        {
            "priorityLevelConfiguration": {"name": "leader-election"},
            "matchingPrecedence": _LEASE_PRECEDENCE,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [_subject(installation)], "resourceRules": [rule]}],
        },
    )


def _everything(installation: Installation, level: str) -> Manifest:
    """Told apart by namespace, so that the flood of one tenant holds up no other."""
    resources = {
        "verbs": ["*"],
        "apiGroups": ["*"],
        "resources": ["*"],
        "clusterScope": True,
        "namespaces": ["*"],
    }
    return _schema(
        installation,
        installation.name,
        {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": _PRECEDENCE,
            "distinguisherMethod": {"type": "ByNamespace"},
            "rules": [
                {
                    "subjects": [_subject(installation)],
                    "resourceRules": [resources],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                }
            ],
        },
    )


def _schema(installation: Installation, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": _API_VERSION,
        "kind": "FlowSchema",
        "metadata": installation.metadata(name, "flowschema"),
        "spec": spec,
    }


def _subject(installation: Installation) -> Manifest:
    account = {"name": installation.name, "namespace": installation.namespace}
    return {"kind": "ServiceAccount", "serviceAccount": account}
