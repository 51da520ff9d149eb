# SPDX-License-Identifier: Apache-2.0
"""What the server fills in for built-in kinds other than pods."""

from __future__ import annotations

from typing import Any

from tests.conformance.natives import (
    AUTOSCALER,
    CLAIM,
    CLAIM_TEMPLATE,
    CRON_JOB,
    CSI_DRIVER,
    DAEMON_SET,
    DEPLOYMENT,
    DEVICE_CLASS,
    DISRUPTION_BUDGET,
    ENDPOINT_SLICE,
    EVENT,
    INGRESS,
    JOB,
    LEASE,
    LIMIT_RANGE,
    MUTATING,
    NAMESPACE,
    NETWORK_POLICY,
    NODE,
    POD_TEMPLATE,
    PRIORITY_CLASS,
    QUOTA,
    REPLICA_SET,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ROLE,
    ROLE_BINDING,
    RUNTIME_CLASS,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    STORAGE_CLASS,
    VALIDATING,
    VOLUME,
    Native,
)
from tests.conformance.probe import Body, Probe, probe

_TRIED_ONLY = {"dryRun": "All"}
_GPU = {"deviceClassName": "gpu.example.com"}


def _created(native: Native, changes: Any = None) -> Body:
    async def run(p: Probe) -> None:
        await p.see("POST", native.collection(p), native.new(p, changes))

    return run


def _service(changes: Any = None) -> Body:
    """Addresses and node ports are the server's choice each time."""

    async def run(p: Probe) -> None:
        body = SERVICE.new(p, changes)
        made = await p.see("POST", SERVICE.collection(p), body, pick=_without_node_ports)
        for address in made["spec"].get("clusterIPs", []):
            if address != "None":
                p.hide(address, "cluster IP")

    return run


def _without_node_ports(service: dict[str, Any]) -> dict[str, Any]:
    ports = [
        {**port, "nodePort": "<node port>"} if "nodePort" in port else port
        for port in service["spec"].get("ports", [])
    ]
    spec = {**service["spec"], **({"ports": ports} if ports else {})}
    if "healthCheckNodePort" in spec:
        spec["healthCheckNodePort"] = "<node port>"
    return {**service, "spec": spec}


def _backend(number: int) -> dict[str, Any]:
    return {"service": {"name": "a", "port": {"number": number}}}


_CASES: tuple[tuple[str, Native, Any], ...] = (
    ("a deployment gets a rolling update, a history and a deadline", DEPLOYMENT, None),
    (
        "a rolling update gets a quarter for what it does not say",
        DEPLOYMENT,
        {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}}}},
    ),
    (
        "a deployment that recreates gets no rolling update",
        DEPLOYMENT,
        {"spec": {"strategy": {"type": "Recreate"}}},
    ),
    ("a replica set gets nothing but the defaults of its pods", REPLICA_SET, None),
    ("a stateful set gets an ordered, rolling update and keeps its claims", STATEFUL_SET, None),
    (
        "a claim template of a stateful set gets the defaults of a claim and a status",
        STATEFUL_SET,
        {
            "spec": {
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM.rest["spec"]}]
            }
        },
    ),
    ("a daemon set gets a rolling update of one at a time", DAEMON_SET, None),
    ("a job gets one pod, six retries, a selector and labels made of its uid", JOB, None),
    (
        "an indexed job gets no defaults but those of any job",
        JOB,
        {"spec": {"completionMode": "Indexed", "completions": 3, "parallelism": 2}},
    ),
    (
        "an indexed job with a backoff limit per index gets the largest limit for all",
        JOB,
        {"spec": {"completionMode": "Indexed", "completions": 3, "backoffLimitPerIndex": 1}},
    ),
    (
        "a job's pod failure policy gets a status and a replacement policy",
        JOB,
        {
            "spec": {
                "podFailurePolicy": {
                    "rules": [
                        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
                    ]
                }
            }
        },
    ),
    (
        "a job without completions gets none if it has a parallelism",
        JOB,
        {"spec": {"parallelism": 2}},
    ),
    ("a cron job allows concurrency and keeps three and one jobs", CRON_JOB, None),
    ("a persistent volume claim gets a mode, a finalizer and a phase", CLAIM, None),
    (
        "a persistent volume claim without a class gets none where there is no default class",
        CLAIM,
        {"spec": {"storageClassName": None}},
    ),
    ("a persistent volume is retained, and gets a mode, a finalizer and a phase", VOLUME, None),
    ("a pod disruption budget gets nothing but an empty status", DISRUPTION_BUDGET, None),
    ("an autoscaler gets one replica at least and a CPU metric", AUTOSCALER, None),
    (
        "an autoscaler's behaviour is completed with the usual policies",
        AUTOSCALER,
        {
            "spec": {
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
                "metrics": [
                    {
                        "type": "Resource",
                        "resource": {
                            "name": "memory",
                            "target": {"type": "Utilization", "averageUtilization": 50},
                        },
                    }
                ],
            }
        },
    ),
    ("a lease gets nothing", LEASE, None),
    ("a resource claim gets one device of exactly that count", RESOURCE_CLAIM, None),
    (
        "a resource claim's alternatives get counts and its tolerations an operator",
        RESOURCE_CLAIM,
        {
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "many", "exactly": {**_GPU, "allocationMode": "All"}},
                        {
                            "name": "either",
                            "firstAvailable": [
                                {"name": "big", **_GPU},
                                {"name": "small", **_GPU, "count": 2},
                            ],
                        },
                        {
                            "name": "bad",
                            "exactly": {**_GPU, "tolerations": [{"effect": "NoSchedule"}]},
                        },
                    ],
                    "constraints": [{"matchAttribute": "gpu.example.com/numa"}],
                }
            }
        },
    ),
    ("a resource claim template gets the defaults of a claim", CLAIM_TEMPLATE, None),
    ("a device class gets nothing but a generation", DEVICE_CLASS, None),
    ("a resource slice gets nothing but a generation", RESOURCE_SLICE, None),
    (
        "a resource slice's quantities are canonical and its taints get a time",
        RESOURCE_SLICE,
        {
            "spec": {
                "devices": [
                    {
                        "name": "gpu-0",
                        "attributes": {"model": {"string": "a"}, "index": {"int": 0}},
                        "capacity": {"memory": {"value": "1024Mi"}},
                        "taints": [{"key": "example.com/bad", "effect": "NoSchedule"}],
                    }
                ]
            }
        },
    ),
    ("a priority class preempts", PRIORITY_CLASS, None),
    (
        "a mutating webhook gets failure, match and reinvocation policies and ten seconds",
        MUTATING,
        None,
    ),
    ("a validating webhook gets failure and match policies and ten seconds", VALIDATING, None),
    ("a network policy without rules is for ingress", NETWORK_POLICY, None),
    (
        "a network policy with egress rules is for both, and its ports are TCP",
        NETWORK_POLICY,
        {"spec": {"egress": [{"ports": [{"port": 80}]}]}},
    ),
    ("an ingress gets nothing but an empty status", INGRESS, None),
    (
        "an ingress with paths gets nothing either",
        INGRESS,
        {
            "spec": {
                "rules": [
                    {
                        "http": {
                            "paths": [{"path": "/", "pathType": "Prefix", "backend": _backend(1)}]
                        }
                    }
                ]
            }
        },
    ),
    ("an endpoint slice's ports are TCP and have an empty name", ENDPOINT_SLICE, None),
    ("a role gets nothing", ROLE, None),
    ("a role binding's subjects get their API group", ROLE_BINDING, None),
    ("a pod template gets the defaults of its pod", POD_TEMPLATE, None),
    ("a service account gets nothing", SERVICE_ACCOUNT, None),
    ("a secret is opaque", SECRET, None),
    ("a namespace gets its name as a label, a finalizer and a phase", NAMESPACE, None),
    ("a node gets a taint until it is ready and an empty status", NODE, None),
    ("a storage class deletes and binds at once", STORAGE_CLASS, None),
    ("a CSI driver attaches, and is for persistent volumes", CSI_DRIVER, None),
    ("a runtime class gets nothing", RUNTIME_CLASS, None),
    ("a resource quota gets an empty status", QUOTA, None),
    (
        "a limit range for containers defaults each value from the next wider one",
        LIMIT_RANGE,
        {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "100m"}}]}},
    ),
)
for _title, _native, _changes in _CASES:
    probe(_title)(_created(_native, _changes))

_SERVICES: dict[str, Any] = {
    "a service is a cluster IP with TCP ports and no affinity": None,
    "a headless service has no address": {"spec": {"clusterIP": "None", "selector": {"a": "b"}}},
    "a headless service may have no ports": {"spec": {"clusterIP": "None", "ports": None}},
    "a service of type NodePort gets ports and an external policy": {"spec": {"type": "NodePort"}},
    "a service of type LoadBalancer gets node ports too": {"spec": {"type": "LoadBalancer"}},
    "a load balancer with a local policy gets a port for health checks": {
        "spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
    },
    "a service of type ExternalName has no address": {
        "spec": {"type": "ExternalName", "externalName": "example.com", "ports": None}
    },
    "a service with affinity gets three hours of it": {"spec": {"sessionAffinity": "ClientIP"}},
    "a service's target ports may be names": {
        "spec": {
            "ports": [
                {"name": "a", "port": 80, "targetPort": "web"},
                {"name": "b", "port": 53, "protocol": "UDP"},
            ]
        }
    },
}
for _title, _changes in _SERVICES.items():
    probe(_title)(_service(_changes))


@probe("an event of the core group comes back with empty times, source and reporter")
async def event(p: Probe) -> None:
    await p.see("POST", EVENT.collection(p), EVENT.new(p, {"involvedObject": {"namespace": p.ns}}))


@probe("workloads that do not say how many get one replica")
async def replicas(p: Probe) -> None:
    for native in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET):
        body = native.new(p, {"spec": {"replicas": None}})
        await p.see("POST", native.collection(p), body, query=_TRIED_ONLY, pick=_replicas)


def _replicas(body: dict[str, Any]) -> Any:
    return body["spec"]["replicas"]
