# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions that embed Kubernetes' own kinds, made from the schemas we keep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.waiting import eventually
from trellis.api.schema.builtin import structural

if TYPE_CHECKING:
    from tests.support.api import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# `kubectl apply` keeps the whole object in an annotation, which may be this long.
ANNOTATION_LIMIT = 256 << 10

EMBEDDED = {
    "io.k8s.api.core.v1.PodTemplateSpec": """
metadata:
  labels: {app: trainer}
  annotations: {note: "kept"}
spec:
  restartPolicy: Never
  schedulingGates: [{name: example.com/gate}]
  imagePullSecrets: [{name: pull}]
  nodeSelector: {pool: a}
  tolerations: [{key: gpu, operator: Exists}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: In, values: [a, b]}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}
  resourceClaims: [{name: fabric, resourceClaimTemplateName: fabric}]
  containers:
  - name: main
    image: registry.example/trainer:1
    command: [python, -m, train]
    env: [{name: RANK, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['rank']"}}}]
    ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]
    resources:
      limits: {nvidia.com/gpu: "8", memory: 1.5Gi, cpu: 2}
      claims: [{name: fabric}]
    readinessProbe: {httpGet: {path: /healthz, port: web}, periodSeconds: 5}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - name: data
    ephemeral:
      volumeClaimTemplate:
        metadata: {labels: {a: b}}
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
""",
    "io.k8s.api.batch.v1.JobTemplateSpec": """
metadata: {labels: {a: b}}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  podFailurePolicy:
    rules: [{action: FailJob, onExitCodes: {operator: In, values: [3]}}]
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/job:1"}]
""",
    "io.k8s.api.resource.v1.ResourceClaimTemplateSpec": """
metadata: {labels: {a: b}}
spec:
  devices:
    requests:
    - name: channel
      exactly: {deviceClassName: compute-domain.example.com, allocationMode: ExactCount, count: 1}
    config:
    - requests: [channel]
      opaque: {driver: compute-domain.example.com, parameters: {kind: Any, deep: {er: [1, 2.5]}}}
""",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec": """
maxReplicas: 5
scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
metrics:
- type: Resource
  resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
""",
    "io.k8s.api.core.v1.ServiceSpec": """
selector: {app: web}
ports:
- {name: http, port: 80, targetPort: web, protocol: TCP}
- {port: 81, targetPort: 8081, protocol: TCP}
""",
}


def definition(group: str, name: str) -> dict[str, Any]:
    properties = {"spec": {"type": "object", "properties": {"it": structural(name)}}}
    whole = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"holders.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "holders", "singular": "holder", "kind": "Holder"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": whole}],
        },
    }


@pytest.mark.parametrize("name", EMBEDDED, ids=[name.rpartition(".")[2] for name in EMBEDDED])
async def test_a_crd_may_embed_it_and_stores_what_it_was_given_unchanged(
    api: Api, namespace: str, name: str
) -> None:
    group = f"{namespace}.example.com"
    crd = definition(group, name)
    assert len(json.dumps(crd)) < ANNOTATION_LIMIT
    strict = "?fieldValidation=Strict"
    await api.do("POST", DEFINITIONS + strict, crd)
    try:
        holders = f"/apis/{group}/v1/namespaces/{namespace}/holders"
        await eventually(lambda: api.exists(holders), "the custom resource to be served")
        conditions = (await api.do("GET", f"{DEFINITIONS}/holders.{group}"))["status"]["conditions"]
        assert "NonStructuralSchema" not in {condition["type"] for condition in conditions}
        given = yaml.safe_load(EMBEDDED[name])
        holder = {"apiVersion": f"{group}/v1", "kind": "Holder", "spec": {"it": given}}
        stored = await api.do("POST", holders + strict, holder | {"metadata": {"name": "a"}})
        assert stored["spec"]["it"] == given
    finally:
        await api.do("DELETE", f"{DEFINITIONS}/holders.{group}")
