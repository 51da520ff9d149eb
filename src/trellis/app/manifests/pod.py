# SPDX-License-Identifier: Apache-2.0
"""The operator's pod: controllers in one container, admission in another, both locked down.

It passes the Pod Security Standard `restricted`, writes to no disk, and carries a token of an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.app.manifests import configuration
from trellis.app.manifests.installation import CONTROLLERS, WEBHOOK_PORT, WEBHOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation, Needs, Process

USER = 10001
TOKEN_SECONDS = 3600
# An end takes 25 s at most: taking reviews on for a while, then finishing what is under way.
GRACE_SECONDS = 30
_TOKEN = {"name": "api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
_CONFIGURATION = {"name": "configuration", "mountPath": configuration.FOLDER}
# TLS takes keys from files only. This folder is memory and goes with the pod.
_SCRATCH = {"name": "scratch", "mountPath": "/tmp"}  # noqa: S108


def pod_spec(controllers: Sequence[str], config_map: str, installation: Installation) -> Manifest:
    server = configuration.configuration(WEBHOOKS).server.webhooks
    certificate = {"name": "certificate", "mountPath": server.server_cert_dir}
    admission = _container(WEBHOOKS, [WEBHOOKS.name], installation)
    admission["ports"].insert(0, _port("webhook", WEBHOOK_PORT))
    admission["volumeMounts"].append(certificate | {"readOnly": True})
    return {
        "serviceAccountName": installation.name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            _spread(key, installation)
            for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
        ],
        "containers": [_container(CONTROLLERS, controllers, installation), admission],
        "volumes": [
            _api_access(),
            {"name": _CONFIGURATION["name"], "configMap": {"name": config_map}},
            {"name": _SCRATCH["name"], "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            {"name": certificate["name"], "secret": _certificate(server.secret_name)},
        ],
    }


def _container(
    process: Process, controllers: Sequence[str], installation: Installation
) -> Manifest:
    return {
        "name": process.name,
        "image": f"{installation.image}:{installation.version}",
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "operator",
            f"--config={configuration.FOLDER}/{process.configuration}",
            f"--controllers={','.join(controllers)}",
        ],
        "env": _environment(installation),
        "ports": [
            _port(f"{process.port_prefix}health", process.health),
            _port(f"{process.port_prefix}metrics", process.metrics),
        ],
        "livenessProbe": _probe("/livez", process, period=10, failures=6),
        "readinessProbe": _probe("/readyz", process, period=5, failures=2),
        "resources": _resources(process.needs),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            _TOKEN | {"readOnly": True},
            _CONFIGURATION | {"readOnly": True},
            dict(_SCRATCH),
        ],
    }


def _environment(installation: Installation) -> list[Manifest]:
    account = {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}
    return [
        {"name": "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME", "valueFrom": account},
        # Without a version: that of the operator is added where it is used.
        {"name": "GROVE_INIT_CONTAINER_IMAGE", "value": installation.image},
    ]


def _probe(path: str, process: Process, *, period: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": f"{process.port_prefix}health"},
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _resources(needs: Needs) -> Manifest:
    return {
        "requests": {"cpu": needs.cpu, "memory": needs.memory},
        "limits": {"cpu": needs.most_cpu, "memory": needs.most_memory},
    }


def _port(name: str, number: int) -> Manifest:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def _spread(key: str, installation: Installation) -> Manifest:
    """Apart if that can be had: where it cannot, two on one node are better than one."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": installation.selector},
        # While an update is rolled out, the pods of the old one are no reason to stay away.
        "matchLabelKeys": ["pod-template-hash"],
    }


def _api_access() -> Manifest:
    token = {"path": "token", "expirationSeconds": TOKEN_SECONDS}
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    # With its version: left to the server to fill in, it would look changed with every apply.
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    namespace = {"path": "namespace", "fieldRef": field}
    return {
        "name": _TOKEN["name"],
        "projected": {
            "sources": [
                {"serviceAccountToken": token},
                {"configMap": authority},
                {"downwardAPI": {"items": [namespace]}},
            ]
        },
    }


def _certificate(secret: str) -> Manifest:
    """Only what a server shows: the keys of our authorities, in the same Secret, stay out."""
    files = ("tls.crt", "tls.key", "ca.crt")
    return {
        "secretName": secret,
        # It is made by the operator itself, unless somebody else provides it.
        "optional": True,
        "items": [{"key": name, "path": name} for name in files],
    }
