# SPDX-License-Identifier: Apache-2.0
"""Built-in kinds other than pods that the server refuses, with the exact causes."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE
from tests.conformance.natives import (
    AUTOSCALER,
    CLAIM,
    CRON_JOB,
    DEPLOYMENT,
    DEVICE_CLASS,
    DISRUPTION_BUDGET,
    INGRESS,
    JOB,
    LEASE,
    MUTATING,
    NETWORK_POLICY,
    NODE,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ROLE_BINDING,
    SERVICE,
    STATEFUL_SET,
    Native,
)
from tests.conformance.probe import Body, Probe, probe


def _refused(native: Native, *changes: Any) -> Body:
    async def run(p: Probe) -> None:
        for change in changes:
            await p.see("POST", native.collection(p), native.new(p, change))

    return run


def _spec(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


def _requests(*requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return _spec(devices={"requests": list(requests), **devices})


def _hook(**changes: Any) -> dict[str, Any]:
    return {"webhooks": [{**MUTATING.rest["webhooks"][0], **changes}]}


_POD = {"containers": [{"name": "app", "image": IMAGE}]}
_GPU: dict[str, Any] = {"deviceClassName": "gpu.example.com"}
_RULES = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "a", "status": "True"}]}]}
_BAD_CEL = [{"cel": {"expression": "device.driver =="}}, {"cel": {"expression": "1"}}]
_CASES: tuple[tuple[str, Native, tuple[Any, ...]], ...] = (
    ("a job needs a template", JOB, (_spec(template=None), {"spec": None})),
    (
        "a job's pods do not restart always",
        JOB,
        (_spec(template={"spec": {"restartPolicy": "Always"}}),),
    ),
    (
        "a job's numbers are not negative",
        JOB,
        (
            _spec(
                parallelism=-1,
                completions=-1,
                backoffLimit=-1,
                activeDeadlineSeconds=-1,
                ttlSecondsAfterFinished=-1,
            ),
        ),
    ),
    (
        "an indexed job needs completions, not more than 100000 pods at once",
        JOB,
        (
            _spec(completionMode="Indexed", parallelism=2),
            _spec(completionMode="Indexed", completions=100001, parallelism=100001),
            _spec(completionMode="Random"),
        ),
    ),
    (
        "limits per index and success policies are for indexed jobs",
        JOB,
        (
            _spec(backoffLimitPerIndex=1, maxFailedIndexes=1),
            _spec(successPolicy={"rules": [{"succeededCount": 1}]}),
        ),
    ),
    (
        "a pod failure policy is for pods that never restart",
        JOB,
        (_spec(podFailurePolicy=_RULES, template={"spec": {"restartPolicy": "OnFailure"}}),),
    ),
    (
        "a job's selector is the server's unless it says otherwise",
        JOB,
        (_spec(selector={"matchLabels": {"a": "b"}}), _spec(manualSelector=True)),
    ),
    ("a job is managed by a domain's path", JOB, (_spec(managedBy="nonsense"),)),
    (
        "a cron job has a schedule, a zone and a policy that exist",
        CRON_JOB,
        (
            _spec(schedule="every day"),
            _spec(schedule=None),
            _spec(schedule="TZ=UTC 0 0 * * *"),
            _spec(timeZone="Moon/Base", concurrencyPolicy="Sometimes"),
        ),
    ),
    (
        "a deployment's selector is there, is not empty and fits its pods",
        DEPLOYMENT,
        (
            _spec(selector=None),
            _spec(selector={"matchLabels": None}),
            _spec(selector={"matchLabels": {"app": "other"}}),
        ),
    ),
    (
        "a deployment's numbers are not negative and its pods restart always",
        DEPLOYMENT,
        (
            _spec(replicas=-1, minReadySeconds=-1, progressDeadlineSeconds=0),
            _spec(template={"spec": {"restartPolicy": "Never"}}),
        ),
    ),
    (
        "a rolling update may not stand still",
        DEPLOYMENT,
        (
            _spec(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
            _spec(strategy={"rollingUpdate": {"maxSurge": "a%", "maxUnavailable": "101%"}}),
            _spec(strategy={"type": "Recreate", "rollingUpdate": {}}),
        ),
    ),
    (
        "a stateful set's selector fits its pods and its policies exist",
        STATEFUL_SET,
        (
            _spec(selector={"matchLabels": {"app": "other"}}),
            _spec(podManagementPolicy="Sometimes", updateStrategy={"type": "Recreate"}),
        ),
    ),
    (
        "a service needs ports, all named if there is more than one",
        SERVICE,
        (
            _spec(ports=[]),
            _spec(ports=[{"port": 0}, {"port": 70000}]),
            _spec(ports=[{"name": "a", "port": 1}, {"name": "a", "port": 1}]),
        ),
    ),
    (
        "a service's type, affinity and selector are valid",
        SERVICE,
        (
            _spec(type="Nonsense", sessionAffinity="Nonsense", selector={"bad key": ""}),
            _spec(type="ExternalName"),
            _spec(ports=[{"port": 80, "nodePort": 30999}]),
            _spec(ports=[{"port": 80, "targetPort": "Not Ok"}]),
        ),
    ),
    (
        "a service's address and node port lie in the ranges of the cluster",
        SERVICE,
        (
            _spec(clusterIP="nonsense"),
            _spec(clusterIP="192.0.2.1"),
            _spec(type="NodePort", ports=[{"port": 80, "nodePort": 80}]),
        ),
    ),
    (
        "a volume claim needs a mode of access and a size",
        CLAIM,
        (
            _spec(accessModes=None, resources=None),
            _spec(accessModes=["ReadSometimes"], volumeMode="Tape"),
            _spec(resources={"requests": {"storage": "-1Gi"}}),
        ),
    ),
    (
        "a disruption budget has one of two numbers",
        DISRUPTION_BUDGET,
        (
            _spec(maxUnavailable=1),
            _spec(minAvailable=-1),
            _spec(minAvailable="a lot"),
            _spec(minAvailable="101%"),
            _spec(selector={"matchLabels": {"bad key": ""}}, unhealthyPodEvictionPolicy="Nonsense"),
        ),
    ),
    (
        "an autoscaler has a range, a target and metrics",
        AUTOSCALER,
        (
            _spec(maxReplicas=0),
            _spec(minReplicas=5, maxReplicas=3),
            _spec(minReplicas=0),
            _spec(scaleTargetRef=None),
            _spec(metrics=[{"type": "Nonsense"}]),
            _spec(metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": {}}}]),
        ),
    ),
    (
        "a node's taints have a key and an effect, and are there once",
        NODE,
        (
            _spec(taints=[{"key": "a", "effect": "Sometimes"}, {"effect": "NoSchedule"}]),
            _spec(taints=[{"key": "a", "effect": "NoSchedule"}] * 2),
        ),
    ),
    (
        "a node's pod ranges are ranges of addresses",
        NODE,
        (_spec(podCIDR="nonsense", podCIDRs=["nonsense"]),),
    ),
    (
        "a lease lasts, was not taken a negative number of times, and has times with zones",
        LEASE,
        (
            _spec(leaseDurationSeconds=0, leaseTransitions=-1),
            _spec(renewTime="nonsense"),
            _spec(acquireTime="2020-01-01T00:00:00"),
        ),
    ),
    (
        "a claim's request has a class and one way to be met",
        RESOURCE_CLAIM,
        (
            _requests({"name": "a"}),
            _requests({"name": "a", "exactly": {}}),
            _requests({"name": "a", "exactly": _GPU, "firstAvailable": [{"name": "b", **_GPU}]}),
        ),
    ),
    (
        "a claim's request for all has no count, and a count is positive",
        RESOURCE_CLAIM,
        (
            _requests({"name": "a", "exactly": {**_GPU, "allocationMode": "All", "count": 2}}),
            _requests({"name": "a", "exactly": {**_GPU, "count": -1}}),
            _requests({"name": "a", "exactly": {**_GPU, "allocationMode": "Some"}}),
        ),
    ),
    (
        "a claim's requests have names, each once, which constraints may use",
        RESOURCE_CLAIM,
        (
            _requests({"name": "a", "exactly": _GPU}, {"name": "a", "exactly": _GPU}),
            _requests({"name": "Not_Ok", "exactly": _GPU}),
            _requests(
                {"name": "a", "exactly": _GPU},
                constraints=[{"requests": ["b"], "matchAttribute": "numa"}],
            ),
        ),
    ),
    (
        "a claim has 32 requests at most",
        RESOURCE_CLAIM,
        (_requests(*({"name": f"r{number}", "exactly": _GPU} for number in range(33))),),
    ),
    (
        "a selector of a claim or a class is an expression that gives a bool",
        RESOURCE_CLAIM,
        (_requests({"name": "a", "exactly": {**_GPU, "selectors": _BAD_CEL}}),),
    ),
    ("a device class's selectors compile", DEVICE_CLASS, (_spec(selectors=_BAD_CEL),)),
    (
        "a resource slice is for one node, some nodes or all of them",
        RESOURCE_SLICE,
        (_spec(nodeName=None), _spec(allNodes=True), _spec(driver="Not_Ok", pool={"name": ""})),
    ),
    (
        "a resource slice's devices have names, each once, and at most 128 are there",
        RESOURCE_SLICE,
        (
            _spec(devices=[{"name": "a"}, {"name": "a"}, {"name": "Not_Ok"}]),
            _spec(devices=[{"name": f"d{number}"} for number in range(129)]),
            _spec(devices=[{"name": "a", "attributes": {"b": {}, "c": {"int": 1, "bool": True}}}]),
        ),
    ),
    (
        "a priority class of a user has at most a billion and another name than the system's",
        PRIORITY_CLASS,
        (
            {"value": 1000000001},
            {"metadata": {"name": "system-mine"}},
            {"preemptionPolicy": "Sometimes"},
            {"value": "high"},
        ),
    ),
    (
        "an ingress has a backend or rules, and paths a type",
        INGRESS,
        (
            _spec(defaultBackend=None),
            _spec(rules=[{"http": {"paths": [{"path": "a", "backend": {}}]}}]),
        ),
    ),
    (
        "a network policy's ports and peers are valid",
        NETWORK_POLICY,
        (
            _spec(ingress=[{"ports": [{"port": 0}, {"port": 80, "protocol": "ICMP"}]}]),
            _spec(ingress=[{"from": [{}]}], policyTypes=["Nonsense"]),
        ),
    ),
    (
        "a role binding's role and subjects are of known kinds",
        ROLE_BINDING,
        (
            {"roleRef": {"kind": "Nonsense", "name": ""}},
            {"subjects": [{"kind": "User"}, {"kind": "Robot", "name": "a"}]},
        ),
    ),
    (
        "a webhook says how it is called, how long, and what else it does",
        MUTATING,
        (
            _hook(sideEffects="Some", timeoutSeconds=31, failurePolicy="Maybe"),
            _hook(sideEffects=None, admissionReviewVersions=[]),
            _hook(name="nonsense", clientConfig={"url": "http://a"}),
            _hook(clientConfig={}),
        ),
    ),
)
for _title, _native, _changes in _CASES:
    probe(_title)(_refused(_native, *_changes))
