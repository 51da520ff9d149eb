# SPDX-License-Identifier: Apache-2.0
"""Making things: the generators of `kubectl create`, `run`, `expose`, and files."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, Story

_PAIR = """
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data: {a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: two}
stringData: {b: "2"}
"""
_UNKNOWN_FIELD = """
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
dada: {a: "1"}
"""
_WRONG_TYPE = """
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {containers: {name: main}}
"""
_INVALID = """
apiVersion: v1
kind: Pod
metadata: {name: One_}
spec: {containers: [{name: main}], restartPolicy: Sometimes}
"""

STORIES = [
    Story(
        "namespaces, config maps and secrets are generated",
        "create namespace {id}",
        "create configmap cm --from-literal=a=1 --from-literal=b=2",
        "get configmap cm -o jsonpath={.data}",
        "create secret generic s --from-literal=password=hunter2",
        "create secret docker-registry pull --docker-username=u --docker-password=p",
        "get secrets -o custom-columns=NAME:.metadata.name,TYPE:.type",
        "create configmap cm",
        cleanup=("delete namespace {id} --wait=false",),
    ),
    Story(
        "workloads are generated",
        "create deployment web --image=registry.example/web:1 --replicas=0 --port=80",
        "create job once --image=registry.example/job:1 --dry-run=server -o name",
        "create cronjob tick --image=registry.example/job:1 --schedule='0 0 1 1 *' -- true",
        "create job again --from=cronjob/tick --dry-run=server -o name",
        "run solo --image=registry.example/solo:1 --restart=Never --labels=a=b",
        "get deployments,cronjobs,pods -o name",
        "get deployment web -o jsonpath={.spec.template.spec.containers[0].ports}",
    ),
    Story(
        "roles and accounts are generated",
        "create serviceaccount robot",
        "create role reader --verb=get,list --resource=pods,pods/log",
        "create rolebinding reads --role=reader --serviceaccount={ns}:robot",
        "create clusterrole {id} --verb=get --non-resource-url=/metrics",
        "create clusterrolebinding {id} --clusterrole={id} --user=ann",
        "describe role reader",
        "get rolebindings,roles -o wide",
        "auth can-i list pods --as=system:serviceaccount:{ns}:robot",
        "auth can-i delete pods --as=system:serviceaccount:{ns}:robot",
        "auth can-i get /metrics --as=ann",
        "auth can-i --list --as=system:serviceaccount:{ns}:robot",
        "create token robot --duration=1h -o jsonpath={.kind}",
        cleanup=("delete clusterrole,clusterrolebinding {id}",),
    ),
    Story(
        "quotas, budgets, priorities, services and ingresses are generated",
        "create quota q --hard=pods=5,services=3",
        "create poddisruptionbudget b --selector=app=web --min-available=1",
        "create priorityclass {id} --value=10 --description=ten",
        "create service clusterip web --tcp=80:8080",
        "create service externalname far --external-name=example.com",
        "create ingress in --rule=example.com/*=web:80",
        "get resourcequotas,services -o name",
        "get poddisruptionbudgets b",
        "get ingresses in",
        "get priorityclasses {id}",
        cleanup=("delete priorityclass {id}",),
    ),
    Story(
        "files hold several objects, of which what is there already is refused",
        Kubectl("create -f -", _PAIR),
        Kubectl("create -f -", _PAIR),
        Kubectl("get -f - -o name", _PAIR),
        Kubectl("delete -f -", _PAIR),
        Kubectl("delete -f -", _PAIR),
        Kubectl("delete --ignore-not-found -f -", _PAIR),
    ),
    Story(
        "what is wrong in a file is said before or by the server",
        Kubectl("create -f -", _UNKNOWN_FIELD),
        Kubectl("create --validate=warn -f -", _UNKNOWN_FIELD),
        Kubectl("create --validate=false -f -", _UNKNOWN_FIELD),
        Kubectl("create -f -", _WRONG_TYPE),
        Kubectl("create -f -", _INVALID),
        Kubectl("create -f -", "apiVersion: v9\nkind: Nothing\nmetadata: {name: a}\n"),
        Kubectl("create -f -", "not: an object\n"),
        Kubectl("create --dry-run=client -o yaml -f -", _PAIR),
    ),
]
