# SPDX-License-Identifier: Apache-2.0
"""Pairs of pod specs of which every API server makes the same pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

CONTAINER: Json = {"name": "main", "image": "registry.example/a:1"}


def a_pod(**fields: Any) -> Json:
    return {"containers": [CONTAINER], **fields}


def in_container(**fields: Any) -> Json:
    return {"containers": [CONTAINER | fields]}


def in_init_container(**fields: Any) -> Json:
    return a_pod(initContainers=[CONTAINER | {"name": "first"} | fields])


def in_volume(**fields: Any) -> Json:
    return a_pod(volumes=[{"name": "files", **fields}])


_DIGEST = f"sha256:{'0' * 64}"
_HTTP = {"httpGet": {"port": 80}}
_ALL_OF_HTTP = {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}
_TIMES = {
    "initialDelaySeconds": 0,
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_OF_POD: Json = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "hostAliases": [],
    "hostIPC": False,
    "hostNetwork": False,
    "hostPID": False,
    "imagePullSecrets": [],
    "initContainers": [],
    "nodeSelector": {},
    "preemptionPolicy": "PreemptLowerPriority",
    "readinessGates": [],
    "resourceClaims": [],
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "schedulingGates": [],
    "securityContext": {},
    "serviceAccountName": "default",
    "terminationGracePeriodSeconds": 30,
    "tolerations": [],
    "topologySpreadConstraints": [],
    "volumes": [],
}
_OF_CONTAINER: Json = {
    "args": [],
    "command": [],
    "env": [],
    "envFrom": [],
    "ports": [],
    "resources": {},
    "stdin": False,
    "stdinOnce": False,
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "tty": False,
    "volumeDevices": [],
    "volumeMounts": [],
}


def _variable(**fields: Any) -> Json:
    return in_container(env=[{"name": "A", **fields}])


def _field(**fields: Any) -> Json:
    return _variable(valueFrom={"fieldRef": {"fieldPath": "spec.nodeName", **fields}})


def _mounted(**fields: Any) -> Json:
    mount = {"name": "files", "mountPath": "/files", **fields}
    volume = {"name": "files", "emptyDir": {}}
    return in_container(volumeMounts=[mount]) | {"volumes": [volume]}


def _projected(**fields: Any) -> Json:
    token = {"serviceAccountToken": {"path": "token", **fields}}
    return in_volume(projected={"sources": [token]})


def _downward(**fields: Any) -> Json:
    item = {"path": "name", "fieldRef": {"fieldPath": "metadata.name", **fields}}
    return in_volume(downwardAPI={"items": [item]})


def _hook(action: Json) -> Json:
    return in_container(lifecycle={"preStop": action})


# Images, and when servers have them pulled where nothing is said of it.
PULLED: dict[str, str] = {
    "a": "Always",
    "a:latest": "Always",
    "a:latest-gpu": "IfNotPresent",
    "registry.example/a": "Always",
    "registry.example/a:1": "IfNotPresent",
    "registry.example/latest": "Always",
    "registry.example:5000/a": "Always",
    "registry.example:5000/a:latest": "Always",
    "registry.example:5000/a:1": "IfNotPresent",
    "registry.example:5000": "IfNotPresent",
    f"registry.example/a@{_DIGEST}": "IfNotPresent",
    f"registry.example:5000/a@{_DIGEST}": "IfNotPresent",
    f"registry.example/a:1@{_DIGEST}": "IfNotPresent",
    # The tag counts, though it is the digest that is pulled.
    f"registry.example/a:latest@{_DIGEST}": "Always",
}


def _pulled(make: Callable[..., Json], image: str) -> tuple[Json, Json]:
    return make(image=image), make(image=image, imagePullPolicy=PULLED[image])


_BY_HAND: dict[str, tuple[Json, Json]] = {
    "empty amounts of a container": (
        in_container(),
        in_container(resources={"requests": {}, "limits": {}, "claims": []}),
    ),
    "empty amounts beside others": (
        in_container(resources={"limits": {"cpu": "1"}}),
        in_container(resources={"limits": {"cpu": "1"}, "requests": {}}),
    ),
    "nothing for an init container": (in_init_container(), in_init_container(**_OF_CONTAINER)),
    "empty groups of the pod": (a_pod(), a_pod(securityContext={"supplementalGroups": []})),
    "an empty list of dropped capabilities": (
        in_container(securityContext={"capabilities": {}}),
        in_container(securityContext={"capabilities": {"drop": []}}),
    ),
    "an empty variable": (_variable(), _variable(value="")),
    "the version of a field": (_field(), _field(apiVersion="v1")),
    "a port over TCP": (
        in_container(ports=[{"containerPort": 80}]),
        in_container(ports=[{"containerPort": 80, "protocol": "TCP", "hostPort": 0}]),
    ),
    "the times of a liveness probe": (
        in_container(livenessProbe=_HTTP),
        in_container(livenessProbe=_HTTP | _TIMES),
    ),
    "times of zero": (
        in_container(startupProbe=_HTTP),
        in_container(startupProbe=_HTTP | dict.fromkeys(_TIMES, 0)),
    ),
    "the page of a readiness probe": (
        in_container(readinessProbe=_HTTP),
        in_container(readinessProbe=_ALL_OF_HTTP),
    ),
    "the service of a gRPC probe": (
        in_container(readinessProbe={"grpc": {"port": 80}}),
        in_container(readinessProbe={"grpc": {"port": 80, "service": ""}}),
    ),
    "the page of a hook": (_hook(_HTTP), _hook(_ALL_OF_HTTP)),
    "a mount that may be written": (_mounted(), _mounted(readOnly=False)),
    "a claim that may be written": (
        in_volume(persistentVolumeClaim={"claimName": "a"}),
        in_volume(persistentVolumeClaim={"claimName": "a", "readOnly": False}),
    ),
    "a share that may be written": (
        in_volume(nfs={"server": "a", "path": "/"}),
        in_volume(nfs={"server": "a", "path": "/", "readOnly": False}),
    ),
    "the mode of a secret": (
        in_volume(secret={"secretName": "a"}),
        in_volume(secret={"secretName": "a", "defaultMode": 420, "items": []}),
    ),
    "the mode of a config map": (
        in_volume(configMap={"name": "a"}),
        in_volume(configMap={"name": "a", "defaultMode": 420}),
    ),
    "a path of whatever type": (
        in_volume(hostPath={"path": "/a"}),
        in_volume(hostPath={"path": "/a", "type": ""}),
    ),
    "the life of a token": (_projected(), _projected(expirationSeconds=3600)),
    "the version of a field in a file": (_downward(), _downward(apiVersion="v1")),
}
# What is said, and the pod spec without and with it.
SAYS_NOTHING: dict[str, tuple[Json, Json]] = {
    **{f"{name} of the pod": (a_pod(), a_pod(**{name: _OF_POD[name]})) for name in _OF_POD},
    **{
        f"{name} of a container": (in_container(), in_container(**{name: _OF_CONTAINER[name]}))
        for name in _OF_CONTAINER
    },
    **{f"when {image} is pulled": _pulled(in_container, image) for image in PULLED},
    **{
        f"when {image} is pulled by an init container": _pulled(in_init_container, image)
        for image in ("registry.example/a", "registry.example/a:1")
    },
    **_BY_HAND,
}
