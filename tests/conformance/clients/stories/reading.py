# SPDX-License-Identifier: Apache-2.0
"""Reading: get in all its forms, describe, watch, wait, explain."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, Story, Until, Watching

PODS = """
apiVersion: v1
kind: Pod
metadata: {name: alpha, labels: {app: web, tier: front}}
spec:
  schedulerName: nobody
  containers:
  - name: main
    image: registry.example/web:1
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {nvidia.com/gpu: "1"}}
    env: [{name: RANK, value: "0"}]
    readinessProbe: {httpGet: {path: /healthz, port: 80}}
---
apiVersion: v1
kind: Pod
metadata: {name: beta, labels: {app: web}}
spec:
  schedulerName: nobody
  containers: [{name: main, image: "registry.example/web:2"}]
"""
_TEMPLATE = "'{{range .items}}{{.metadata.name}} {{end}}'"
_COLUMNS = "custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image"

STORIES = [
    Story(
        "pods are shown in every form",
        Kubectl("create -f -", PODS),
        "get pods",
        "get pods -o wide",
        "get pods --show-labels",
        "get pods -L tier",
        "get pods -l app=web,tier!=front -o name",
        "get pods -l 'tier in (front, back)' -o name",
        "get pods --field-selector metadata.name=beta -o name",
        "get pods --field-selector status.phase=Running",
        "get pods --sort-by={.metadata.labels.tier} --no-headers",
        "get pods alpha -o jsonpath={.spec.containers[0].resources}",
        f"get pods -o {_COLUMNS}",
        f"get pods -o go-template={_TEMPLATE}",
        "get pods --chunk-size=1 -o name",
        "get pod/alpha pod/beta -o name",
        "get pods alpha gamma",
        "get pod gamma --ignore-not-found",
        "get pods beta -o yaml",
        "get pods alpha -o json",
        "get pods beta -o yaml --show-managed-fields",
    ),
    Story(
        "things are described",
        Kubectl("create -f -", PODS),
        "describe pod alpha",
        "create configmap cm --from-literal=a=1",
        "describe configmap cm",
        "create secret generic s --from-literal=a=1",
        "describe secret s",
        "create service clusterip web --tcp=80:8080",
        "describe service web",
        "describe namespace {ns}",
        "describe pod gamma",
        "describe serviceaccount default",
    ),
    Story(
        "a watch shows what happens",
        "create configmap first --from-literal=a=1",
        Watching(
            "get configmaps -l '!none' --field-selector=metadata.name!=kube-root-ca.crt"
            " --watch --output-watch-events",
            before=2,
            after=3,
            meanwhile=(
                Kubectl("create configmap second --from-literal=a=1"),
                Kubectl("label configmap second seen=yes"),
                Kubectl("delete configmap second"),
            ),
        ),
    ),
    Story(
        "waiting ends when what is waited for is there, or not in time",
        Kubectl("create -f -", PODS),
        "wait pod/alpha --for=jsonpath={.status.phase}=Pending --timeout=20s",
        "wait pod/beta --for=condition=Ready --timeout=1s",
        "patch pod beta --subresource=status --type=merge -p "
        '\'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}\'',
        "wait pod/beta --for=condition=Ready --timeout=20s",
        "wait pods --all --for=condition=PodScheduled=False --timeout=1s",
        "delete pod beta --wait=true",
        "wait pod/beta --for=delete --timeout=20s",
        "wait pod/none --for=condition=Ready --timeout=1s",
    ),
    Story(
        "what kinds there are is told and explained",
        "api-resources --api-group=batch",
        "api-resources --namespaced=false --api-group=resource.k8s.io -o wide",
        "api-resources --verbs=deletecollection --api-group=apps -o name",
        "explain pod.spec.schedulingGates",
        "explain pod.spec.containers.ports --recursive",
        "explain deployments.spec.strategy",
        "explain resourceclaims.spec.devices",
        "explain pod.spec.nothing",
        "explain nothings",
    ),
    Story(
        "what is logged and where commands run is refused without a node",
        Kubectl("create -f -", PODS),
        "logs alpha",
        "logs gamma",
        "logs alpha -c other",
        "exec alpha -- true",
        "port-forward alpha 8080:80",
        "top pods",
    ),
    Story(
        "events are shown",
        Kubectl(
            "create -f -",
            "apiVersion: v1\nkind: Event\nmetadata: {name: e1}\n"
            "involvedObject: {apiVersion: v1, kind: Pod, name: alpha, namespace: '{ns}'}\n"
            "reason: Told\nmessage: it was told\ntype: Normal\ncount: 2\n"
            "source: {component: teller}\n",
        ),
        "get events",
        "events --for=pod/alpha",
        "events --types=Warning",
        "get events --field-selector=reason=Told -o name",
        Until("get configmaps -o name", "configmap/kube-root-ca.crt"),
    ),
    Story(
        "errors say what is wrong",
        "get nothings",
        "get pods --field-selector=spec.nothing=a",
        "get pods -l 'a in'",
        "get pod",
        "get pods alpha -n nowhere-{id}",
        "delete pod none",
        "get configmaps --limit=x",
        "get --raw /nothing",
        "get --raw /api/v1/namespaces/{ns}/configmaps/none",
        "get pods --as=ann",
        "get pods --token=wrong",
    ),
]
