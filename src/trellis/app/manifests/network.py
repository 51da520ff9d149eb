# SPDX-License-Identifier: Apache-2.0
"""Who reaches the operator, and whom it reaches: what is not listed here is denied.

Probes are not listed: a pod is always reached from its own node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.app.manifests.admission import SERVICE_PORT
from trellis.app.manifests.installation import PROCESSES, WEBHOOK_PORT

if TYPE_CHECKING:
    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation

# Where API servers listen: behind cloud load balancers, on control-plane nodes, in minikube.
_API_SERVER_PORTS = (443, 6443, 8443)
_DNS_PORT = 53
_NAMESPACE_NAME = "kubernetes.io/metadata.name"


def webhook_service(installation: Installation) -> Manifest:
    port = {"name": "webhooks", "port": SERVICE_PORT, "targetPort": WEBHOOK_PORT}
    return _service(installation, installation.name, "service", {"ports": [port]})


def metrics_service(installation: Installation) -> Manifest:
    ports = [
        {"name": process.name, "port": process.metrics, "targetPort": process.metrics}
        for process in PROCESSES
    ]
    # Of one that is not ready, metrics are wanted most.
    spec = {"publishNotReadyAddresses": True, "ports": ports}
    return _service(installation, f"{installation.name}-metrics", "metrics-service", spec)


def network_policy(installation: Installation) -> Manifest:
    """The API server's addresses differ from cluster to cluster and cannot be written down here.

    So reviews may come from anywhere, over TLS, and requests may go to the ports of API servers.
    An overlay that knows the addresses may narrow both.
    """
    metrics = [_port(process.metrics) for process in PROCESSES]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": installation.namespaced(installation.name, "networkpolicy"),
        "spec": {
            "podSelector": {"matchLabels": installation.selector},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {"ports": [_port(WEBHOOK_PORT)]},
                {"from": [_namespace("monitoring")], "ports": metrics},
            ],
            "egress": [
                {"ports": [_port(number) for number in _API_SERVER_PORTS]},
                {
                    "to": [_namespace("kube-system")],
                    "ports": [_port(_DNS_PORT, "UDP"), _port(_DNS_PORT)],
                },
            ],
        },
    }


def _service(installation: Installation, name: str, component: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": installation.namespaced(name, component),
        "spec": {"selector": installation.selector, **spec},
    }


def _port(number: int, protocol: str = "TCP") -> Manifest:
    return {"port": number, "protocol": protocol}


def _namespace(name: str) -> Manifest:
    return {"namespaceSelector": {"matchLabels": {_NAMESPACE_NAME: name}}}
