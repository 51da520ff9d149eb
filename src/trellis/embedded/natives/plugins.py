# SPDX-License-Identifier: Apache-2.0
"""The admission plugins that every cluster runs and that change objects, as pure functions.

They come before mutating webhooks. They read through `read`, which gives the list of a kind where
the name is empty; they never write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trellis.embedded.asking import Object, Review
from trellis.embedded.copying import copied
from trellis.embedded.refusals import Refusal, forbidden

Read = Callable[[str, str, str, str], Object | None]

_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path
_TOKEN_PREFIX = "kube-api-access-"  # noqa: S105 - a name
_TOKEN_SECONDS = 3607
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_MIRROR = "kubernetes.io/config.mirror"
_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_PROTECTED = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


def mutate(review: Review, read: Read, random: Any) -> None:
    """Everything that the built-in plugins do to the object under review."""
    kind, new = review.served.kind, review.new
    if review.served.group or new is None:
        return
    if kind == "Pod" and not review.subresource:
        _pod(review, new, read, random)
    elif review.operation == "CREATE":
        if kind == "Binding" or (kind, review.subresource) == ("Pod", "binding"):
            _label_by_node(new, read)
        elif not review.subresource:
            _new(kind, new, read)


def _new(kind: str, new: Object, read: Read) -> None:
    if kind in _PROTECTED:
        _protect(new, _PROTECTED[kind])
    if kind == "PersistentVolumeClaim":
        _choose_storage_class(new, read)
    if kind == "Node":
        _taint(new)


def _pod(review: Review, new: Object, read: Read, random: Any) -> None:
    spec = new.setdefault("spec", {})
    if review.operation == "CREATE":
        _run_by_class(review, spec, read)
        _set_priority(review, spec, read)
        if not (new["metadata"].get("annotations") or {}).get(_MIRROR):
            _set_account(review, new, read, random)
    elif review.operation == "UPDATE" and review.old is not None:
        for name in ("priority", "preemptionPolicy"):
            if spec.get(name) is None and review.old["spec"].get(name) is not None:
                spec[name] = review.old["spec"][name]
    _tolerate(spec)


def _refused(review: Review, why: str) -> Refusal:
    metadata = (review.new or {}).get("metadata") or {}
    name = review.name or metadata.get("name") or metadata.get("generateName") or ""
    return forbidden(review.served.group, review.served.plural, name, why)


def _tolerate(spec: dict[str, Any]) -> None:
    """Five minutes on a node that is not ready, unless the pod says otherwise."""
    held = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in (_NOT_READY, _UNREACHABLE)
        if not any(
            each.get("key", "") in {key, ""} and each.get("effect", "") in {"NoExecute", ""}
            for each in held
        )
    ]
    if added:
        spec["tolerations"] = [*held, *added]


def _set_priority(review: Review, spec: dict[str, Any], read: Read) -> None:
    name = spec.get("priorityClassName") or ""
    found = _class(name, read)
    if name and found is None:
        raise _refused(review, f"no PriorityClass with name {name} was found")
    priority = (found or {}).get("value") or 0
    policy = (found or {}).get("preemptionPolicy") or "PreemptLowerPriority"
    if found is not None and not name:
        spec["priorityClassName"] = found["metadata"]["name"]
    given = (
        ("priority", "integer value of priority", priority),
        ("preemptionPolicy", "string value of PreemptionPolicy", policy),
    )
    for field, said, computed in given:
        if spec.get(field) is not None and spec[field] != computed:
            why = (
                f"the {said} ({spec[field]}) must not be provided in pod spec; priority admission "
                f"controller computed {computed} from the given PriorityClass name"
            )
            raise _refused(review, why)
        spec[field] = computed


def _class(name: str, read: Read) -> Object | None:
    """The class of that name; without a name the default of the cluster, if it has one."""
    if name:
        return read("scheduling.k8s.io", "priorityclasses", "", name)
    listed = (read("scheduling.k8s.io", "priorityclasses", "", "") or {}).get("items") or ()
    marked = [each for each in listed if each.get("globalDefault")]
    return min(marked, key=lambda each: each.get("value") or 0, default=None)


def _run_by_class(review: Review, spec: dict[str, Any], read: Read) -> None:
    name = spec.get("runtimeClassName")
    if not name:
        return
    found = read("node.k8s.io", "runtimeclasses", "", name)
    if found is None:
        raise _refused(review, f'pod rejected: RuntimeClass "{name}" not found')
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead and spec.get("overhead") not in (None, overhead):
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        raise _refused(review, why)
    if overhead:
        spec["overhead"] = dict(overhead)
    _schedule_by_class(review, spec, found.get("scheduling") or {})


def _schedule_by_class(review: Review, spec: dict[str, Any], scheduling: dict[str, Any]) -> None:
    selector, own = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    if any(own.get(key, value) != value for key, value in selector.items()):
        raise _refused(review, f"conflict: runtimeClass.scheduling.nodeSelector = {selector}")
    if selector:
        spec["nodeSelector"] = {**own, **selector}
    for toleration in scheduling.get("tolerations") or ():
        if toleration not in (spec.get("tolerations") or []):
            spec["tolerations"] = [*(spec.get("tolerations") or []), copied(toleration)]


def _set_account(review: Review, new: Object, read: Read, random: Any) -> None:
    spec = new["spec"]
    name = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = read("", "serviceaccounts", review.namespace, name)
    if account is None:
        why = (
            f"error looking up service account {review.namespace}/{name}: "
            f'serviceaccount "{name}" not found'
        )
        raise _refused(review, why)
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken") is not False
    if wanted:
        _mount_token(spec, random)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = copied(account["imagePullSecrets"])


def _mount_token(spec: dict[str, Any], random: Any) -> None:
    volumes = spec.get("volumes") or []
    name = next((v["name"] for v in volumes if v.get("name", "").startswith(_TOKEN_PREFIX)), "")
    needed = False
    fresh = name or _TOKEN_PREFIX + "".join(random.choice(_SUFFIX) for _ in range(5))
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        mounts = container.get("volumeMounts") or []
        if not any(mount.get("mountPath") == _TOKEN_PATH for mount in mounts):
            mount = {"name": fresh, "readOnly": True, "mountPath": _TOKEN_PATH}
            container["volumeMounts"] = [*mounts, mount]
            needed = True
    if needed and not name:
        spec["volumes"] = [*volumes, _token_volume(fresh)]


def _token_volume(name: str) -> dict[str, Any]:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}


def _label_by_node(binding: Object, read: Read) -> None:
    """A pod gets the zone and region of its node, where the node has them."""
    name = (binding.get("target") or {}).get("name")
    node = read("", "nodes", "", name) if name else None
    labels = ((node or {}).get("metadata") or {}).get("labels") or {}
    copied_labels = {key: labels[key] for key in _TOPOLOGY if key in labels}
    if copied_labels:
        metadata = binding.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **copied_labels}


def _protect(new: Object, finalizer: str) -> None:
    metadata = new["metadata"]
    held = metadata.get("finalizers") or []
    if finalizer not in held:
        metadata["finalizers"] = [*held, finalizer]


def _choose_storage_class(new: Object, read: Read) -> None:
    spec = new.get("spec") or {}
    beta = (new["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    if spec.get("storageClassName") is not None or beta is not None:
        return
    listed = (read("storage.k8s.io", "storageclasses", "", "") or {}).get("items") or ()
    marked = [each for each in listed if _is_default(each)]
    if marked:
        newest = max(marked, key=lambda each: each["metadata"].get("creationTimestamp") or "")
        spec["storageClassName"] = newest["metadata"]["name"]


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return bool(annotations.get(_DEFAULT_CLASS) == "true")


def _taint(node: Object) -> None:
    """Nothing is scheduled to a node before it says that it is ready."""
    spec = node.setdefault("spec", {})
    held = spec.get("taints") or []
    same = any(t.get("key") == _NOT_READY and t.get("effect") == "NoSchedule" for t in held)
    if not same:
        spec["taints"] = [*held, {"key": _NOT_READY, "effect": "NoSchedule"}]


def validate(review: Review, read: Read) -> None:
    """What the built-in plugins refuse, once the object is as it is to be stored."""
    new = review.new
    if new is None or review.subresource or review.operation not in {"CREATE", "UPDATE"}:
        return
    if review.served.kind == "PriorityClass" and new.get("globalDefault"):
        _one_default_priority(review, new, read)


def _one_default_priority(review: Review, new: Object, read: Read) -> None:
    held = _class("", read)
    if held is not None and held["metadata"]["name"] != new["metadata"].get("name"):
        name = held["metadata"]["name"]
        why = f"PriorityClass {name} is already marked as default. Only one default can exist"
        raise _refused(review, why)
