# SPDX-License-Identifier: Apache-2.0
"""Pods that the server refuses, with the exact causes."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE, pod
from tests.conformance.probe import Body, Probe, probe


def _refused(*specs: dict[str, Any]) -> Body:
    async def run(p: Probe) -> None:
        for spec in specs:
            await p.see("POST", p.path("v1", "pods"), pod("a", spec))

    return run


def _app(**more: Any) -> dict[str, Any]:
    return {"name": "app", "image": IMAGE, **more}


def _only(**more: Any) -> dict[str, Any]:
    return {"containers": [_app(**more)]}


def _limits(**resources: Any) -> dict[str, Any]:
    return _only(resources={"limits": {name.replace("_", "/"): v for name, v in resources.items()}})


_EMPTY_DIR: dict[str, Any] = {"name": "a", "emptyDir": {}}
_TERM = {"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a"]}]}
_GATE = {"name": "example.com/wait"}
_SPREAD = {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Pray"}
_CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "a pod needs a container": ({"containers": []}, {"containers": None}),
    "a container needs a name and an image": ({"containers": [{}]},),
    "containers have different names": (
        {"containers": [_app(), _app()], "initContainers": [_app()]},
    ),
    "a container's name is a label": ({"containers": [{"name": "Not_Ok", "image": IMAGE}]},),
    "an image has no spaces around it": (_only(image=" a "),),
    "policies are of a fixed set": (
        {
            **_only(imagePullPolicy="Sometimes", terminationMessagePolicy="None"),
            "restartPolicy": "Sometimes",
            "dnsPolicy": "Sometimes",
        },
    ),
    "a request is at most the limit": (
        _only(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
    ),
    "a quantity of a resource is not negative": (_limits(cpu="-1"),),
    "a resource that is not native needs a domain": (_limits(gpu="1"),),
    "an extended resource is whole, and its request is its limit": (
        _only(resources={"limits": {"example.com/gpu": "500m"}}),
        _only(resources={"limits": {"example.com/gpu": 2}, "requests": {"example.com/gpu": 1}}),
        _only(resources={"requests": {"example.com/gpu": 1}}),
    ),
    "a port is a number below 65536 with a protocol that exists": (
        _only(ports=[{"containerPort": 0}, {"containerPort": 70000, "protocol": "tcp"}]),
    ),
    "ports have different names, and a host's port is taken once": (
        _only(
            ports=[
                {"name": "web", "containerPort": 80, "hostPort": 80},
                {"name": "web", "containerPort": 81, "hostPort": 80},
                {"name": "Not_Ok", "containerPort": 82},
            ]
        ),
    ),
    "a port on the host's network is the host's": (
        {"hostNetwork": True, **_only(ports=[{"containerPort": 80, "hostPort": 81}])},
    ),
    "a mount names a volume, and a path once": (
        _only(volumeMounts=[{"name": "missing", "mountPath": "/a"}]),
        {
            **_only(volumeMounts=[{"name": "a", "mountPath": "/a"}] * 2),
            "volumes": [_EMPTY_DIR],
        },
    ),
    "volumes have different names and one source each": (
        {**_only(), "volumes": [_EMPTY_DIR, _EMPTY_DIR]},
        {**_only(), "volumes": [{**_EMPTY_DIR, "hostPath": {"path": "/a"}}]},
    ),
    "a variable of the environment has a name and one source": (
        _only(env=[{"name": "a=b"}, {"name": ""}]),
        _only(env=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
        _only(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nonsense"}}}]),
    ),
    "a probe has one handler and no negative numbers": (
        _only(livenessProbe={"periodSeconds": -1}),
        _only(readinessProbe={"httpGet": {"port": 0}, "exec": {"command": ["a"]}}),
    ),
    "a node selector is made of labels": ({**_only(), "nodeSelector": {"bad key": "bad value"}},),
    "an affinity's operator is one of six": (
        {
            **_only(),
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]}
                }
            },
        },
    ),
    "an anti-affinity needs a topology": (
        {
            **_only(),
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]
                }
            },
        },
    ),
    "a toleration that exists has no value": (
        {
            **_only(),
            "tolerations": [
                {"key": "a", "operator": "Exists", "value": "b"},
                {"operator": "Equal"},
                {"key": "a", "operator": "Near", "effect": "Never"},
            ],
        },
    ),
    "a topology spread has a skew, a key and a way out": (
        {**_only(), "topologySpreadConstraints": [_SPREAD]},
    ),
    "gates have different names and go with no node": (
        {**_only(), "schedulingGates": [_GATE, _GATE]},
        {**_only(), "schedulingGates": [{"name": "Not Ok"}]},
        {**_only(), "schedulingGates": [_GATE], "nodeName": "somewhere"},
    ),
    "an active deadline is positive": ({**_only(), "activeDeadlineSeconds": 0},),
    "a container's claim is one of the pod's": (
        _only(resources={"claims": [{"name": "gpu"}, {"name": "gpu"}]}),
    ),
    "a pod's claim has a name and one source": (
        {
            **_only(),
            "resourceClaims": [{"name": "a"}, {"name": "a", "resourceClaimName": "Not_Ok"}],
        },
        {
            **_only(),
            "resourceClaims": [
                {"name": "a", "resourceClaimName": "b", "resourceClaimTemplateName": "c"}
            ],
        },
    ),
    "names of hosts are labels": ({**_only(), "hostname": "a.b", "subdomain": "Not_Ok"},),
    "a DNS policy of None needs servers": ({**_only(), "dnsPolicy": "None"},),
    "ephemeral containers are not for creation": (
        {**_only(), "ephemeralContainers": [_app(name="debug")]},
    ),
    "an init container that does not restart has no hooks or probes": (
        {**_only(), "initContainers": [_app(name="a", livenessProbe={"tcpSocket": {"port": 1}})]},
        {**_only(), "initContainers": [_app(name="a", restartPolicy="Sometimes")]},
    ),
    "a field of the wrong type is 400 and names the field": (
        {"containers": {}},
        {"containers": [_app(command="a")]},
        {**_only(), "hostNetwork": "yes"},
        {**_only(), "terminationGracePeriodSeconds": "5"},
        {**_only(), "terminationGracePeriodSeconds": 1.5},
    ),
    "a user's id is not negative, and the proc mount one of two": (
        _only(securityContext={"runAsUser": -1, "procMount": "Some", "privileged": True}),
    ),
}
for _title, _specs in _CASES.items():
    probe(_title)(_refused(*_specs))


@probe("a pod without a spec lacks containers")
async def no_spec(p: Probe) -> None:
    await p.see("POST", p.path("v1", "pods"), {"metadata": {"name": "a"}})
