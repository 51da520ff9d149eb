# SPDX-License-Identifier: Apache-2.0
"""What the server fills in for pods, part by part. `create` has the plainest one whole."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE, pod
from tests.conformance.probe import Body, Probe, probe


def _container(**more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "app", "image": IMAGE, **more}]}


def _containers(body: dict[str, Any]) -> Any:
    """Without the token that every container gets: the plainest pod shows it."""
    names = ("initContainers", "containers")
    return {name: [_untokened(each) for each in body["spec"].get(name, [])] for name in names}


def _untokened(container: dict[str, Any]) -> dict[str, Any]:
    mounts = [m for m in container.get("volumeMounts", []) if "kube-api" not in m["name"]]
    return {**container, "volumeMounts": mounts}


def _volumes(body: dict[str, Any]) -> Any:
    return [v for v in body["spec"].get("volumes", []) if "kube-api" not in v["name"]]


def _spec(body: dict[str, Any]) -> Any:
    return {**body["spec"], **_containers(body), "volumes": _volumes(body)}


def _whole(body: dict[str, Any]) -> Any:
    return body


def _status(body: dict[str, Any]) -> Any:
    return body["status"]


def _pod(spec: dict[str, Any], pick: Any) -> Body:
    async def run(p: Probe) -> None:
        await p.see("POST", p.path("v1", "pods"), pod("a", spec), pick=pick)

    return run


def _limited(name: str, **resources: Any) -> dict[str, Any]:
    return {"name": name, "image": IMAGE, "resources": resources}


_PROBE = {"httpGet": {"port": 80}}
_CPU = {"cpu": "1", "memory": "1Gi"}
_CASES: tuple[tuple[str, dict[str, Any], Any], ...] = (
    (
        "an image without a tag, or with the tag latest, is always pulled; any other if absent",
        {
            "containers": [
                {"name": "a", "image": "registry.example/app"},
                {"name": "b", "image": "registry.example/app:latest"},
                {"name": "c", "image": "registry.example:5000/app"},
                {"name": "d", "image": f"registry.example/app@sha256:{'0' * 64}"},
            ]
        },
        _containers,
    ),
    (
        "a container's ports are TCP",
        _container(ports=[{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]),
        _containers,
    ),
    (
        "a pod on the host's network takes its ports there",
        {"hostNetwork": True, **_container(ports=[{"containerPort": 80}])},
        _spec,
    ),
    (
        "probes run every ten seconds, for one second, and fail at the third time",
        _container(
            livenessProbe=_PROBE,
            readinessProbe={"tcpSocket": {"port": "web"}},
            startupProbe={"grpc": {"port": 9}, "periodSeconds": 1},
        ),
        _containers,
    ),
    (
        "lifecycle hooks over HTTP get a path and a scheme",
        _container(lifecycle={"preStop": _PROBE, "postStart": {"exec": {"command": ["a"]}}}),
        _containers,
    ),
    (
        "a field in the environment is of version v1",
        _container(
            env=[
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "C", "value": ""},
                {"name": "D"},
            ]
        ),
        _containers,
    ),
    (
        "init containers get the same defaults as containers",
        {
            **_container(),
            "initContainers": [
                {"name": "once", "image": IMAGE},
                {"name": "sidecar", "image": IMAGE, "restartPolicy": "Always"},
            ],
        },
        _containers,
    ),
    (
        "volumes get their modes, and one without a source is an empty directory",
        {
            **_container(),
            "volumes": [
                {"name": "nothing"},
                {"name": "empty", "emptyDir": {"sizeLimit": "1024Mi"}},
                {"name": "secret", "secret": {"secretName": "a"}},
                {"name": "config", "configMap": {"name": "a"}},
                {"name": "host", "hostPath": {"path": "/a"}},
                {
                    "name": "fields",
                    "downwardAPI": {
                        "items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]
                    },
                },
                {
                    "name": "projected",
                    "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
                },
                {"name": "claim", "persistentVolumeClaim": {"claimName": "a"}},
            ],
        },
        _volumes,
    ),
    (
        "an ephemeral volume's claim gets a mode",
        {
            **_container(),
            "volumes": [
                {
                    "name": "own",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            ],
        },
        _volumes,
    ),
    (
        "a gated pod is born with a condition that says so",
        {**_container(), "schedulingGates": [{"name": "example.com/wait"}]},
        _status,
    ),
    (
        "a pod without a token for its service account has no volume",
        {**_container(), "automountServiceAccountToken": False},
        _whole,
    ),
    (
        "a pod whose limits are its requests is guaranteed",
        {"containers": [_limited("app", limits=_CPU)]},
        _status,
    ),
    (
        "a pod with requests is burstable",
        {"containers": [_limited("a", requests={"cpu": "1"}), _limited("b")]},
        _status,
    ),
    (
        "a pod with resources of its own as a whole is of their quality",
        {**_container(), "resources": {"limits": _CPU, "requests": {"cpu": "500m"}}},
        _whole,
    ),
    (
        "a pod's resource claims come back as they are",
        {
            **_container(resources={"claims": [{"name": "gpu"}]}),
            "resourceClaims": [
                {"name": "gpu", "resourceClaimName": "a"},
                {"name": "other", "resourceClaimTemplateName": "b"},
            ],
        },
        _spec,
    ),
    (
        "tolerations of the pod's own stay, and those of every pod are added if missing",
        {
            **_container(),
            "tolerations": [
                {"key": "example.com/gpu", "operator": "Exists"},
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists"},
                {"key": "a", "value": "b", "effect": "NoSchedule"},
            ],
        },
        _spec,
    ),
    (
        "affinity and topology spread come back as they are",
        {
            **_container(),
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
                    ]
                }
            },
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ],
        },
        _spec,
    ),
    (
        "a grace period of zero, a policy and a security context are kept",
        {
            **_container(securityContext={"privileged": True}),
            "terminationGracePeriodSeconds": 0,
            "restartPolicy": "Never",
            "securityContext": {"runAsUser": 1000, "fsGroup": 1000},
            "activeDeadlineSeconds": 60,
            "enableServiceLinks": False,
            "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["192.0.2.1"]},
            "hostname": "a",
            "subdomain": "b",
        },
        _spec,
    ),
    (
        "a service account is known by two names",
        {**_container(), "serviceAccount": "default"},
        _spec,
    ),
)
for _title, _given, _pick in _CASES:
    probe(_title)(_pod(_given, _pick))
