# SPDX-License-Identifier: Apache-2.0
"""Workloads: scale, rollouts, cascades. Controllers take part, kubelets are played."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, PodsRun, Story, Until

_WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: nobody
      containers: [{name: main, image: "registry.example/web:1"}]
"""
_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  completions: 1
  template:
    spec:
      schedulerName: nobody
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/job:1"}]
"""

_OF_NOBODY = ("schedulerName: nobody", "serviceAccountName: nobody")
_TOLD = (
    "get events --field-selector=involvedObject.kind={} --sort-by=.message -o "
    "custom-columns=TYPE:.type,REASON:.reason,OF:.involvedObject.name,BY:.reportingComponent,"
    "WHAT:.message"
)

STORIES = [
    Story(
        "a deployment rolls out, is scaled, and rolls back",
        Kubectl("apply -f -", _WEB),
        PodsRun(2),
        "rollout status deployment/web --timeout=30s",
        "get deployment web",
        "get replicasets",
        "scale deployment web --replicas=3",
        PodsRun(3),
        "rollout status deployment/web --timeout=30s",
        "scale deployment web --replicas=1 --current-replicas=7",
        "scale deployment web --replicas=1",
        Until("get deployment web -o jsonpath={.status.replicas}", "1"),
        "get deployment web -o jsonpath={.status.readyReplicas}",
        "rollout history deployment/web",
        "rollout pause deployment/web",
        "set image deployment/web main=registry.example/web:2",
        "set env deployment/web A=1",
        "set resources deployment/web --requests=cpu=1",
        "rollout resume deployment/web",
        Until("get replicasets -o jsonpath={.items[*].spec.replicas}", "1 1"),
        "rollout undo deployment/web",
        Until("get replicasets -o jsonpath={.items[*].status.replicas}", "0"),
        "rollout status deployment/web --timeout=30s",
        "rollout history deployment/web",
        "autoscale deployment web --max=5",
        "expose deployment web --port=80 --target-port=8080",
        "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}",
    ),
    Story(
        "a deployment goes with its pods, or leaves them behind",
        Kubectl("create -f -", _WEB),
        PodsRun(2),
        "delete deployment web --cascade=orphan",
        "get replicasets -o jsonpath={.items[*].spec.replicas}",
        Kubectl("create -f -", _WEB),
        Until("get deployment web -o jsonpath={.status.replicas}", "2"),
        "delete deployment web --cascade=foreground",
        "get deployments,replicasets,pods",
        Kubectl("create -f -", _WEB),
        PodsRun(2),
        "delete deployment web",
        Until("get replicasets,pods", "No resources found"),
    ),
    Story(
        "a job runs to its end",
        Kubectl("create -f -", _JOB),
        PodsRun(1),
        "wait job/once --for=jsonpath={.status.ready}=1 --timeout=30s",
        "get job once",
        'patch job once -p \'{"spec":{"suspend":true}}\'',
        "wait job/once --for=condition=Suspended --timeout=30s",
        "delete job once",
        Until("get jobs,pods", "No resources found"),
    ),
    Story(
        "controllers tell what they did",
        Kubectl("create -f -", _WEB),
        PodsRun(2),
        "scale deployment web --replicas=1",
        Until("get events", "Deleted pod"),
        Until("get events", "from 2 to 1"),
        _TOLD.format("Deployment"),
        _TOLD.format("ReplicaSet"),
        Kubectl("create -f -", _JOB),
        Until("get events", "Created pod: once"),
        'patch job once -p \'{"spec":{"suspend":true}}\'',
        Until("get events", "Job suspended"),
        Until("get events", "Deleted pod: once"),
        'patch job once -p \'{"spec":{"suspend":false}}\'',
        Until("get events", "Job resumed"),
        _TOLD.format("Job"),
        Kubectl("create -f -", _JOB.replace("once", "stuck").replace(*_OF_NOBODY)),
        Until("get events", "Error creating"),
        "get events --field-selector=reason=FailedCreate -o custom-columns=WHAT:.message",
    ),
]
