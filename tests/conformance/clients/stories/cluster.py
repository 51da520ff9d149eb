# SPDX-License-Identifier: Apache-2.0
"""The cluster itself: its versions, who asks, its nodes."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, Story

_NODE = """
apiVersion: v1
kind: Node
metadata:
  name: "{id}"
  annotations: {trellis.dev/simulated: "true"}
spec:
  taints: [{key: story, value: "{id}", effect: NoSchedule}]
"""
_STATUS = (
    '{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"10"},'
    '"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"},'
    '"conditions":[{"type":"Ready","status":"True","reason":"Played"}],'
    '"nodeInfo":{"kubeletVersion":"v1.36.0","machineID":"","systemUUID":"","bootID":"",'
    '"kernelVersion":"6.1","osImage":"Simulated","containerRuntimeVersion":"none://1",'
    '"kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}}}'
)
_PODS = """
apiVersion: v1
kind: Pod
metadata: {name: bare}
spec:
  nodeName: "{id}"
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: "registry.example/web:1"}]
"""

STORIES = [
    Story(
        "the cluster says what it is",
        "version -o yaml",
        "api-versions",
        "cluster-info",
        "config view --minify -o jsonpath={.clusters[0].cluster.server}",
        "config view --minify -o jsonpath={.kind}",
        "get --raw /readyz",
        "get --raw /healthz",
        "get --raw /version",
        "auth whoami",
        "auth whoami --as=ann --as-group=staff -o yaml",
        "auth can-i '*' '*'",
        "auth can-i create pods --as=ann",
        "get namespaces default kube-system",
    ),
    Story(
        "a node is cordoned, tainted and drained",
        Kubectl("create -f -", _NODE),
        f"patch node {{id}} --subresource=status --type=merge -p '{_STATUS}'",
        "get node {id}",
        "get node {id} -o wide",
        Kubectl("create -f -", _PODS),
        "get pod bare -o wide",
        "cordon {id}",
        "cordon {id}",
        "taint node {id} a=b:NoSchedule",
        "taint node {id} a=c:NoSchedule",
        "taint node {id} a:NoSchedule-",
        "label node {id} gpu=yes",
        "get nodes -l gpu=yes -o name",
        "drain {id} --timeout=20s",
        "drain {id} --timeout=20s --force --grace-period=0",
        "get pods",
        "uncordon {id}",
        "get node {id} -o jsonpath={.spec}",
        "delete node {id}",
        cleanup=("delete node {id} --ignore-not-found",),
    ),
]
