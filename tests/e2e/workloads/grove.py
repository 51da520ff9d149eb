# SPDX-License-Identifier: Apache-2.0
"""Grove's operator, as far as what it leaves behind is concerned: labels, owners, finalizers, pods
that run. It is a client of its own name, and shares no code with ours."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.e2e.workloads.grove_tree import Clique, Live, Release, Tree, Unfinished, hash_of
from tests.e2e.workloads.world import (
    CLIQUES,
    GANGS,
    GROUPS,
    PODS,
    SERVICES,
    SETS,
    is_ready,
    name_of,
    uid_of,
)
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.e2e.workloads.world import World

Json = dict[str, Any]

GROVE = "grove.io/v1alpha1"
MAPS = "podgangmaps"
WAITER_IMAGE = "registry.example/grove-initc"
PATIENCE_SECONDS = 60.0
_GATE = "grove.io/podgang-pending-creation"
_SET_REPLICA = "grove.io/podcliqueset-replica-index"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_THEN = "2025-03-01T12:00:00Z"
_ERROR = {"code": "ERR_SYNC_POD", "description": "requeue", "observedAt": _THEN}


def maps_path(world: World) -> str:
    return f"/apis/{GROVE}/namespaces/{world.namespace}/{MAPS}"


class Grove:
    """It runs until all that it makes for a set is made, and then never again."""

    def __init__(self, world: World, release: Release, unfinished: Unfinished, live: Live) -> None:
        api = replace(world.api, user_agent="grove-operator/v0.1.0 (linux/amd64)")
        self._world = replace(world, cluster=replace(world.cluster, api=api))
        self._release = release
        self._unfinished = unfinished
        self._live = live

    async def run(self, body: Json) -> None:
        """Makes all that Grove makes of a set, and waits until its pods are ready."""
        found = await self._world.make(SETS, _defaulted(body))
        tree = Tree(found=found, release=self._release, live=self._live)
        making = _Making(world=self._world, tree=tree, unfinished=self._unfinished)
        await making.rights()
        await making.services()
        await making.groups()
        await making.cliques()
        if not self._unfinished.gangs:
            await making.gangs()
        await making.let_go()
        await making.tell()
        if self._unfinished.deleted:
            await self._world.delete(SETS, name_of(found))


def _defaulted(body: Json) -> Json:
    """As Grove's webhook fills it in."""
    made = copy.deepcopy(body)
    made["metadata"]["finalizers"] = ["grove.io/podcliqueset.grove.io"]
    made["spec"]["template"] = {
        "terminationDelay": "4h0m0s",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
        **made["spec"]["template"],
    }
    for clique in made["spec"]["template"]["cliques"]:
        spec = clique["spec"]
        spec["podSpec"] = {"restartPolicy": "Always", **spec["podSpec"]}
        spec.setdefault("minAvailable", spec["replicas"])
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """Of the children of one set."""

    world: World
    tree: Tree
    unfinished: Unfinished

    async def rights(self) -> None:
        """Made for every set, whether its pods wait for each other or not."""
        name, make = self.tree.name, self.world.make
        role = f"grove.io:pcs:{name}"
        account = self._metadata(name, "pod-service-account")
        await make("serviceaccounts", {"metadata": account, "automountServiceAccountToken": True})
        rule = {
            "apiGroups": [""],
            "resources": ["pods", "pods/status"],
            "verbs": ["get", "list", "watch"],
        }
        await make("roles", {"metadata": self._metadata(role, "pod-role"), "rules": [rule]})
        subject = {"kind": "ServiceAccount", "name": name, "namespace": self.world.namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
        metadata = self._metadata(role, "pod-role-binding")
        binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
        await make("rolebindings", binding)
        secret = self._metadata(self.tree.secret, "pod-sa-token-secret")
        secret["annotations"] = {"kubernetes.io/service-account.name": name}
        await make("secrets", {"metadata": secret, "type": "kubernetes.io/service-account-token"})

    async def services(self) -> None:
        """One of a replica that was scaled away is left: Grove forgets those."""
        for replica in (*self.tree.replicas, len(self.tree.replicas)):
            await self._service(replica)
        for replica in self.tree.replicas:
            for clique in self.tree.template["cliques"]:
                if config := clique["spec"].get("autoScalingConfig"):
                    await self._autoscaler(f"{self.tree.name}-{replica}-{clique['name']}", config)
            if self.tree.release.epoch:
                await self._map(f"{self.tree.name}-{replica}")

    async def groups(self) -> None:
        for replica in self.tree.replicas:
            for group in self.tree.groups:
                name = self.tree.group_name(replica, group)
                metadata = self._metadata(name, "pcs-podcliquescalinggroup")
                metadata["labels"][_SET_REPLICA] = str(replica)
                metadata["finalizers"] = ["grove.io/podcliquescalinggroup.grove.io"]
                spec = {key: group[key] for key in ("minAvailable", "cliqueNames")}
                spec["replicas"] = len(self.tree.group_indices(replica, group))
                await self._make(GROUPS, GROVE, "PodCliqueScalingGroup", metadata, spec)

    async def cliques(self) -> None:
        """And their pods, held back by the gate."""
        groups = {name_of(one): one for one in await self.world.ours(GROUPS)}
        for clique in self._made():
            owner = groups[clique.group] if clique.group else self.tree.found
            made = await self._clique(clique, owner)
            for index in clique.indices:
                if f"{clique.name}-{index}" not in self.unfinished.pods:
                    await self._pod(clique, index, made)

    async def gangs(self) -> None:
        pods: dict[str, list[str]] = {}
        for pod in await self._free_pods():
            owner = pod["metadata"]["labels"]["grove.io/podclique"]
            pods.setdefault(owner, []).append(name_of(pod))
        groups: dict[str, list[Json]] = {}
        for clique in self._made():
            references = [
                {"namespace": self.world.namespace, "name": name}
                for name in sorted(pods.get(clique.name, []))
            ]
            least = clique.template["spec"]["minAvailable"]
            group = {"name": clique.name, "minReplicas": least, "podReferences": references}
            groups.setdefault(clique.gang, []).append(group)
        for name, members in groups.items():
            await self._gang(name, members)

    async def let_go(self) -> None:
        """Lifts the gates, and waits until those pods are ready."""
        for pod in await self._free_pods():
            free = {"spec": {"schedulingGates": None}}
            await self.world.patch(PODS, name_of(pod), free)

        async def look() -> bool:
            return all(map(is_ready, await self._free_pods()))

        await eventually(look, "pods of Grove's to be ready", PATIENCE_SECONDS)

    async def tell(self) -> None:
        """The statuses as Grove leaves them, with an error that it never takes back."""
        generation = {"observedGeneration": 1, "lastErrors": [_ERROR]}
        reached = hash_of(self.tree.template)
        count = len(self.tree.replicas)
        counts = partial(dict.fromkeys, ("replicas", "availableReplicas", "updatedReplicas"))
        ended = {"updateStartedAt": _THEN, "updateEndedAt": _THEN}
        status = {
            **generation,
            **counts(count),
            "currentGenerationHash": reached,
            self.tree.release.progress: ended,
        }
        await self._status(SETS, self.tree.name, status)
        for group in await self.world.ours(GROUPS):
            replicas = group["spec"]["replicas"]
            hashes = {"currentPodCliqueSetGenerationHash": reached}
            status = {**generation, **counts(replicas), "scheduledReplicas": replicas, **hashes}
            await self._status(GROUPS, name_of(group), status)
        for clique in self._made():
            names = ("replicas", "readyReplicas", "scheduledReplicas", "updatedReplicas")
            status = {
                **generation,
                **dict.fromkeys(names, len(clique.indices)),
                "currentPodTemplateHash": clique.template_hash,
                "currentPodCliqueSetGenerationHash": reached,
                "conditions": [
                    _condition("PodCliqueScheduled", "True", "SufficientScheduledPods"),
                    _condition("MinAvailableBreached", "False", "SufficientReadyPods"),
                ],
            }
            await self._status(CLIQUES, clique.name, status)

    def _made(self) -> list[Clique]:
        return [one for one in self.tree.cliques() if one.name not in self.unfinished.cliques]

    async def _free_pods(self) -> list[Json]:
        found = await self.world.ours(PODS)
        return [pod for pod in found if pod["spec"]["hostname"] not in self.unfinished.gated]

    async def _service(self, replica: int) -> None:
        name, index = self.tree.name, {_SET_REPLICA: str(replica)}
        selector = {
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/part-of": name,
            **index,
        }
        metadata = self._metadata(f"{name}-{replica}", "pcs-headless-service")
        metadata["labels"] |= index
        spec = {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": True}
        await self.world.make(SERVICES, {"metadata": metadata, "spec": spec})

    async def _autoscaler(self, target: str, config: Json) -> None:
        reference = {"apiVersion": GROVE, "kind": "PodClique", "name": target}
        metadata = self._metadata(target, "pcs-hpa")
        body = {"metadata": metadata, "spec": {"scaleTargetRef": reference, **config}}
        await self.world.make("horizontalpodautoscalers", body)

    async def _map(self, name: str) -> None:
        metadata = self._metadata(name, "pcs-podgangmap")
        spec = {"entries": [{"epoch": self.tree.release.epoch}]}
        body = {"apiVersion": GROVE, "kind": "PodGangMap", "metadata": metadata, "spec": spec}
        await self.world.api.do("POST", maps_path(self.world), body)

    async def _clique(self, clique: Clique, owner: Json) -> Json:
        component = "pcsg-podclique" if clique.group else "pcs-podclique"
        metadata = self._metadata(clique.name, component)
        metadata["ownerReferences"] = [_owner(owner)]
        metadata["labels"] = {
            **clique.template.get("labels", {}),
            **metadata["labels"],
            "grove.io/podgang": clique.gang,
            _SET_REPLICA: str(clique.replica),
            "grove.io/pod-template-hash": clique.template_hash,
        }
        if clique.group:
            metadata["labels"] |= {
                "grove.io/podcliquescalinggroup": clique.group,
                "grove.io/podcliquescalinggroup-replica-index": str(clique.index),
            }
        if clique.base_gang:
            metadata["labels"]["grove.io/base-podgang"] = clique.base_gang
        metadata["annotations"] = clique.template.get("annotations", {})
        metadata["finalizers"] = ["grove.io/podclique.grove.io"]
        return await self._make(CLIQUES, GROVE, "PodClique", metadata, _clique_spec(clique))

    async def _pod(self, clique: Clique, index: int, owner: Json) -> None:
        labels = {**owner["metadata"]["labels"], "grove.io/podclique": clique.name}
        if self.tree.release.labels_pod_index:
            labels["grove.io/podclique-pod-index"] = str(index)
        spec = copy.deepcopy(owner["spec"]["podSpec"])
        for container in spec["containers"]:
            container["env"] = self._variables(clique, index) + container["env"]
        spec |= {
            "hostname": f"{clique.name}-{index}",
            "subdomain": f"{self.tree.name}-{clique.replica}",
            "schedulingGates": [{"name": _GATE}],
            **(_waiter(clique, self.tree.secret) if clique.parents else {}),
        }
        metadata = {
            "generateName": f"{clique.name}-",
            "labels": labels,
            "annotations": owner["metadata"].get("annotations", {}),
            "ownerReferences": [_owner(owner)],
        }
        await self.world.make(PODS, {"metadata": metadata, "spec": spec})

    def _variables(self, clique: Clique, index: int) -> list[Json]:
        name = self.tree.name
        service = f"{name}-{clique.replica}.{self.world.namespace}.svc.cluster.local"
        return [
            {"name": "GROVE_PCS_NAME", "value": name},
            {"name": "GROVE_PCS_INDEX", "value": str(clique.replica)},
            {"name": "GROVE_PCLQ_NAME", "value": clique.name},
            {"name": "GROVE_HEADLESS_SERVICE", "value": service},
            {"name": "GROVE_PCLQ_POD_INDEX", "value": str(index)},
        ]

    async def _gang(self, name: str, groups: list[Json]) -> None:
        metadata = self._metadata(name, "podgang")
        del metadata["labels"]["app.kubernetes.io/name"]
        metadata["labels"]["grove.io/scheduler-name"] = "default-scheduler"
        if self.tree.release.epoch:
            metadata["labels"]["grove.io/epoch"] = self.tree.release.epoch
        spec: Json = {"podgroups": groups}
        if self.tree.template.get("topologyConstraint"):
            pack = {"required": "topology.kubernetes.io/rack"}
            spec["topologyConstraint"] = {"packConstraint": pack}
        await self._make(GANGS, "scheduler.grove.io/v1alpha1", "PodGang", metadata, spec)
        initialized = _condition("Initialized", "True", "PodGangPodsCreated")
        await self._status(GANGS, name, {"phase": "Pending", "conditions": [initialized]})

    async def _make(self, kind: str, version: str, name: str, metadata: Json, spec: Json) -> Json:
        head = {"apiVersion": version, "kind": name}
        return await self.world.make(kind, {**head, "metadata": metadata, "spec": spec})

    async def _status(self, kind: str, name: str, status: Json) -> None:
        await self.world.patch(kind, name, {"status": status}, "status")

    def _metadata(self, name: str, component: str) -> Json:
        return {
            "name": name,
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": self.tree.name,
                "app.kubernetes.io/name": name.replace(":", "-"),
                "app.kubernetes.io/component": component,
            },
            "ownerReferences": [_owner(self.tree.found)],
        }


def _owner(found: Json) -> Json:
    return {
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "name": name_of(found),
        "uid": uid_of(found),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _clique_spec(clique: Clique) -> Json:
    """With what Grove's types write that was never asked for, and what it adds for members."""
    spec = copy.deepcopy(clique.template["spec"])
    added = _group_variables() if clique.group else []
    spec["podSpec"]["containers"] = [
        {"resources": {}, **one, "env": added + one.get("env", [])}
        for one in spec["podSpec"]["containers"]
    ]
    return {**spec, "replicas": len(clique.indices), "startsAfter": list(clique.parents)}


def _group_variables() -> list[Json]:
    return [
        _downward("GROVE_PCSG_NAME", "podcliquescalinggroup"),
        _downward("GROVE_PCSG_INDEX", "podcliquescalinggroup-replica-index"),
        {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "4"},
    ]


def _downward(name: str, label: str) -> Json:
    path = f"metadata.labels['grove.io/{label}']"
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _waiter(clique: Clique, secret: str) -> Json:
    gang = "metadata.labels['grove.io/podgang']"
    own = [
        {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}},
        {"path": "podgangname", "fieldRef": {"fieldPath": gang}},
    ]
    mounts = {"sa-token-secret-vol": _TOKEN_PATH, "pod-info-vol": "/var/grove/pod-info"}
    waiter = {
        "name": "grove-initc",
        "image": f"{WAITER_IMAGE}:v0.1.0",
        "args": [f"--podcliques={parent}:1" for parent in clique.parents],
        "volumeMounts": [
            {"name": name, "mountPath": path, "readOnly": True} for name, path in mounts.items()
        ],
    }
    token = {"secretName": secret, "defaultMode": 0o644}
    return {
        "initContainers": [waiter],
        "volumes": [
            {"name": "sa-token-secret-vol", "secret": token},
            {"name": "pod-info-vol", "downwardAPI": {"items": own}},
        ],
    }


def _condition(kind: str, status: str, reason: str) -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "",
        "lastTransitionTime": _THEN,
    }
