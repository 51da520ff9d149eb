# SPDX-License-Identifier: Apache-2.0
"""Updates of built-in kinds that the server refuses because a field is fixed, and some it takes."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE
from tests.conformance.natives import (
    CLAIM,
    CLAIM_TEMPLATE,
    CONFIG_MAP,
    CONTROLLER_REVISION,
    CRON_JOB,
    CSI_DRIVER,
    DAEMON_SET,
    DEPLOYMENT,
    DEVICE_CLASS,
    INGRESS_CLASS,
    JOB,
    POD,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ROLE_BINDING,
    RUNTIME_CLASS,
    SECRET,
    SERVICE,
    STATEFUL_SET,
    STORAGE_CLASS,
    Native,
)
from tests.conformance.probe import Body, Probe, probe

_GATED = {"spec": {"schedulingGates": [{"name": "example.com/wait"}]}}
_INDEXED = {"spec": {"completionMode": "Indexed", "completions": 3, "parallelism": 3}}


def _patched(native: Native, start: Any, *patches: Any) -> Body:
    """Strategic patches, so that a container is changed by its name."""

    async def run(p: Probe) -> None:
        await native.make(p, start)
        for patch in patches:
            await p.see("PATCH", native.path(p), patch, patch="strategic", pick=_kind)

    return run


def _kind(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": body["kind"]}


def _spec(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


def _app(**container: Any) -> dict[str, Any]:
    return {"containers": [{"name": "app", **container}]}


def _template(**spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": spec}}}


_CASES: tuple[tuple[str, Native, Any, tuple[Any, ...]], ...] = (
    (
        "a pod's image and deadline may change, and tolerations may be added",
        POD,
        None,
        (
            _spec(**_app(image="registry.example/app:2")),
            _spec(activeDeadlineSeconds=60),
            _spec(tolerations=[{"key": "a", "operator": "Exists"}]),
        ),
    ),
    (
        "a pod's other fields may not change",
        POD,
        None,
        (
            _spec(schedulerName="somebody"),
            _spec(nodeSelector={"a": "b"}),
            _spec(**_app(command=["a"])),
            _spec(**_app(resources={"limits": {"cpu": "1"}})),
            _spec(priority=5),
            _spec(nodeName="somewhere"),
        ),
    ),
    (
        "a pod's containers stay as many as they are",
        POD,
        None,
        (_spec(containers=[{"name": "new", "image": IMAGE}]),),
    ),
    (
        "a pod's deadline may only get shorter, and its tolerations only more",
        POD,
        {
            "spec": {
                "activeDeadlineSeconds": 60,
                "tolerations": [{"key": "a", "operator": "Exists"}],
            }
        },
        (_spec(activeDeadlineSeconds=61), _spec(activeDeadlineSeconds=None), _spec(tolerations=[])),
    ),
    (
        "a gated pod may get a node selector, but no gate more",
        POD,
        _GATED,
        (_spec(nodeSelector={"a": "b"}), _spec(schedulingGates=[{"name": "example.com/more"}])),
    ),
    (
        "a job's parallelism, limits, deadlines and replacement policy may change",
        JOB,
        None,
        (
            _spec(parallelism=2),
            _spec(backoffLimit=1),
            _spec(activeDeadlineSeconds=9),
            _spec(podReplacementPolicy="Failed"),
        ),
    ),
    (
        "a job's completions, mode, selector, template and manager may not change",
        JOB,
        None,
        (
            _spec(completions=2),
            _spec(completionMode="Indexed"),
            _spec(selector={"matchLabels": {"a": "b"}}),
            _template(**_app(image="registry.example/app:2")),
            _spec(managedBy="example.com/me"),
        ),
    ),
    (
        "a suspended job's template may get other scheduling and resources",
        JOB,
        None,
        (
            _template(nodeSelector={"a": "b"}),
            _template(tolerations=[{"key": "a", "operator": "Exists"}]),
            _template(schedulingGates=[{"name": "example.com/wait"}]),
            _template(**_app(resources={"limits": {"cpu": "1"}})),
        ),
    ),
    (
        "an indexed job's completions change only together with its parallelism",
        JOB,
        _INDEXED,
        (_spec(completions=5), _spec(completions=5, parallelism=5)),
    ),
    (
        "a cron job's schedule and template may change",
        CRON_JOB,
        None,
        (_spec(schedule="1 1 1 1 *"), _spec(jobTemplate={"spec": {"parallelism": 2}})),
    ),
    (
        "a deployment's selector is immutable",
        DEPLOYMENT,
        None,
        (_spec(selector={"matchLabels": {"b": "c"}}),),
    ),
    (
        "a daemon set's selector is immutable",
        DAEMON_SET,
        None,
        (
            {
                "spec": {
                    "selector": {"matchLabels": {"b": "c"}},
                    "template": {"metadata": {"labels": {"b": "c"}}},
                }
            },
        ),
    ),
    (
        "a stateful set's fields but a few are forbidden to change",
        STATEFUL_SET,
        None,
        (_spec(serviceName="b"), _spec(podManagementPolicy="Parallel"), _spec(minReadySeconds=1)),
    ),
    (
        "a service keeps its address: another is 422, and an empty one is taken for it",
        SERVICE,
        None,
        (_spec(clusterIP="10.0.255.254"), _spec(clusterIP=""), _spec(clusterIP="None")),
    ),
    (
        "a volume claim that is not bound may only get the name of its volume",
        CLAIM,
        None,
        (
            _spec(accessModes=["ReadOnlyMany"]),
            _spec(storageClassName="other"),
            _spec(resources={"requests": {"storage": "2Gi"}}),
            _spec(volumeName="a"),
        ),
    ),
    (
        "an immutable config map stays so, and so does its data",
        CONFIG_MAP,
        {"immutable": True},
        ({"data": {"a": "2"}}, {"immutable": False}, {"metadata": {"labels": {"a": "b"}}}),
    ),
    (
        "an immutable secret stays so, and any secret keeps its type",
        SECRET,
        {"immutable": True},
        ({"stringData": {"a": "2"}}, {"immutable": None}, {"type": "example.com/other"}),
    ),
    (
        "a resource claim's spec is immutable",
        RESOURCE_CLAIM,
        None,
        (
            _spec(devices={"requests": [{"name": "b", "exactly": {"deviceClassName": "c"}}]}),
            {"metadata": {"labels": {"a": "b"}}},
        ),
    ),
    (
        "a resource claim template's spec is immutable",
        CLAIM_TEMPLATE,
        None,
        (_spec(metadata={"labels": {"a": "b"}}),),
    ),
    (
        "a device class may change",
        DEVICE_CLASS,
        None,
        (_spec(selectors=[{"cel": {"expression": "true"}}]),),
    ),
    (
        "a resource slice's driver, node and pool's name are immutable",
        RESOURCE_SLICE,
        None,
        (
            _spec(driver="other.example.com"),
            _spec(nodeName="other"),
            _spec(pool={"name": "b"}),
            _spec(pool={"generation": 2}),
            _spec(devices=[{"name": "gpu-1"}]),
        ),
    ),
    (
        "a priority class keeps its value and policy, but not its description",
        PRIORITY_CLASS,
        None,
        ({"value": 2000}, {"preemptionPolicy": "Never"}, {"description": "changed"}),
    ),
    (
        "a role binding keeps its role",
        ROLE_BINDING,
        None,
        ({"roleRef": {"name": "b"}}, {"subjects": []}),
    ),
    (
        "a storage class keeps its provisioner, policy and mode",
        STORAGE_CLASS,
        None,
        ({"provisioner": "b"}, {"reclaimPolicy": "Retain"}, {"allowVolumeExpansion": True}),
    ),
    ("a runtime class keeps its handler", RUNTIME_CLASS, None, ({"handler": "b"},)),
    ("an ingress class keeps its controller", INGRESS_CLASS, None, (_spec(controller="b/c"),)),
    ("a CSI driver keeps what it attaches", CSI_DRIVER, None, (_spec(attachRequired=False),)),
    (
        "a controller revision keeps its data",
        CONTROLLER_REVISION,
        None,
        ({"data": {"a": 2}}, {"revision": 2}),
    ),
)
for _title, _native, _start, _patches in _CASES:
    probe(_title)(_patched(_native, _start, *_patches))
