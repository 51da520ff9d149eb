# SPDX-License-Identifier: Apache-2.0
"""Updates kind by kind: who needs a resourceVersion, who is created by one, who counts them."""

from __future__ import annotations

from typing import Any

from tests.conformance import natives
from tests.conformance.kinds import WIDGETS, beacon, gadget, widget
from tests.conformance.natives import Native, merged
from tests.conformance.probe import Probe, probe

_NATIVES = sorted(
    (value for value in vars(natives).values() if isinstance(value, Native)),
    key=lambda native: native.resource,
)
_RULES = {"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]}
_IMAGE = {"containers": [{"name": "app", "image": "registry.example/app:2"}]}
_SELECTORS = {"selectors": [{"cel": {"expression": "true"}}]}
_ENDPOINTS = [{"addresses": ["192.0.2.2"]}]
_SERVICE = {"service": {"name": "b", "port": {"number": 81}}}
_TIMEOUT = {"webhooks": [{"name": "a.example.com", "timeoutSeconds": 5}]}
_EGRESS = {"policyTypes": ["Egress"]}
# A change of what each kind is about, to which no controller reacts with pods. None: it has none.
_CHANGES: dict[str, Any] = {
    "clusterroles": _RULES,
    "configmaps": {"data": {"a": "2"}},
    "cronjobs": {"spec": {"schedule": "1 1 1 1 *"}},
    "csidrivers": {"spec": {"requiresRepublish": True}},
    "daemonsets": {"spec": {"minReadySeconds": 5}},
    "deployments": {"spec": {"minReadySeconds": 5}},
    "deviceclasses": {"spec": _SELECTORS},
    "endpointslices": {"endpoints": _ENDPOINTS},
    "events": {"message": "changed"},
    "horizontalpodautoscalers": {"spec": {"maxReplicas": 5}},
    "ingressclasses": {"spec": {"parameters": {"kind": "A", "name": "a"}}},
    "ingresses": {"spec": {"defaultBackend": _SERVICE}},
    "jobs": {"spec": {"parallelism": 2}},
    "leases": {"spec": {"holderIdentity": "you"}},
    "limitranges": {"spec": {"limits": [{"type": "Container"}]}},
    "mutatingwebhookconfigurations": _TIMEOUT,
    "namespaces": None,
    "networkpolicies": {"spec": _EGRESS},
    "nodes": {"spec": {"providerID": "a"}},
    "persistentvolumeclaims": {"spec": {"volumeName": "missing"}},
    "persistentvolumes": {"spec": {"capacity": {"storage": "2Gi"}}},
    "poddisruptionbudgets": {"spec": {"minAvailable": 2}},
    "pods": {"spec": _IMAGE},
    "podtemplates": {"template": {"spec": {"hostname": "b"}}},
    "priorityclasses": {"description": "changed"},
    "replicasets": {"spec": {"minReadySeconds": 5}},
    "resourceclaims": None,
    "resourceclaimtemplates": None,
    "resourcequotas": {"spec": {"hard": {"services": "8"}}},
    "resourceslices": {"spec": {"devices": [{"name": "gpu-1"}]}},
    "rolebindings": {"subjects": []},
    "roles": _RULES,
    "runtimeclasses": {"scheduling": {"nodeSelector": {"a": "b"}}},
    "secrets": {"stringData": {"a": "2"}},
    "serviceaccounts": {"automountServiceAccountToken": False},
    "services": {"spec": {"sessionAffinity": "ClientIP"}},
    "statefulsets": {"spec": {"minReadySeconds": 5}},
    "storageclasses": {"allowVolumeExpansion": True},
    "validatingwebhookconfigurations": _TIMEOUT,
}


def _start(p: Probe, native: Native) -> Any:
    return {"involvedObject": {"namespace": p.ns}} if native.kind == "Event" else {}


@probe("an update without a resourceVersion is fine for most kinds and 422 for some")
async def unconditional(p: Probe) -> None:
    for native in _NATIVES:
        made = await native.make(p, _start(p, native))
        change = {"metadata": {"resourceVersion": None, "labels": {"a": "b"}}}
        answer = await p.ask("PUT", native.path(p), merged(made, change))
        p.note(native.resource, answer.status)


@probe("an update of a missing object is 404 for most kinds and creates some")
async def missing(p: Probe) -> None:
    for native in _NATIVES:
        body = native.new(p, _start(p, native))
        answer = await p.ask("PUT", native.path(p), body)
        p.note(native.resource, answer.status)


@probe("generations are counted by some kinds, and with labels by endpoint slices only")
async def generations(p: Probe) -> None:
    for native in _NATIVES:
        if native.resource not in _CHANGES:
            continue
        made = await native.make(p, _start(p, native))
        counts = [made["metadata"].get("generation")]
        for patch in (_CHANGES[native.resource], {"metadata": {"labels": {"a": "b"}}}):
            body = await p.do("PATCH", native.path(p), patch or {}, patch="strategic")
            counts.append(body["metadata"].get("generation"))
        p.note(f"{native.resource}: made, changed, labelled", counts)


async def _count(p: Probe, path: str, what: str, patch: Any, *more: str) -> None:
    await p.do("PATCH", "/".join([path, *more]), patch, patch="merge")
    now = await p.do("GET", path)
    p.note(what, now["metadata"]["generation"])


async def _count_custom(p: Probe, path: str, status: tuple[str, ...]) -> None:
    await _count(p, path, "labels", {"metadata": {"labels": {"a": "b"}}})
    await _count(p, path, "annotations", {"metadata": {"annotations": {"a": "b"}}})
    await _count(p, path, "finalizers", {"metadata": {"finalizers": ["example.com/hold"]}})
    await _count(p, path, "a spec", {"spec": {"size": 4}})
    await _count(p, path, "the same spec", {"spec": {"size": 4}})
    await _count(p, path, "a status", {"status": {"phase": "A"}}, *status)
    await _count(p, path, "a generation", {"metadata": {"generation": 50}})
    await p.do("DELETE", path)
    await _count(p, path, "a deletion that waits", {})
    await p.do("PATCH", path, {"metadata": {"finalizers": None}}, patch="merge")


@probe("a custom resource with a status subresource counts changes beside metadata and status")
async def custom(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await _count_custom(p, p.path(WIDGETS, "widgets", "a"), ("status",))


@probe("a custom resource without a status subresource counts changes of its status too")
async def custom_without_status(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "gadgets"), gadget("a"))
    await _count_custom(p, p.path(WIDGETS, "gadgets", "a"), ())


@probe("a cluster-scoped custom resource counts like any other")
async def custom_cluster_scoped(p: Probe) -> None:
    await p.do("POST", p.everywhere(WIDGETS, "beacons"), beacon(f"a-{p.id}"))
    await _count_custom(p, p.everywhere(WIDGETS, "beacons", f"a-{p.id}"), ("status",))
