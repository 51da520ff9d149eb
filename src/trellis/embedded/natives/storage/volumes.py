# SPDX-License-Identifier: Apache-2.0
"""Persistent volumes, storage classes and CSI drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.metadata import immutable
from trellis.embedded.natives.quantities import check_amount, parsed, rounded_to_milli
from trellis.embedded.natives.selectors import validate_node_selector
from trellis.embedded.natives.storage.claims import VOLUME_MODES, validate_modes
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, dns_subdomain, label_key

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_RECLAIM = ("Delete", "Recycle", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_SOURCES = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "csi",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
)


class PersistentVolumes(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        spec["persistentVolumeReclaimPolicy"] = (
            spec.get("persistentVolumeReclaimPolicy") or "Retain"
        )
        spec.setdefault("volumeMode", "Filesystem")
        if (host := spec.get("hostPath")) is not None:
            host.setdefault("type", "")
        if spec.get("capacity"):
            rounded_to_milli(spec["capacity"])
        status = new["status"] = new.get("status") or {}
        status["phase"] = status.get("phase") or "Pending"

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": about.now}

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        super().prepare_update(new, old, about)
        status, before = new.get("status") or {}, old.get("status") or {}
        stamp = "lastPhaseTransitionTime"
        if status.get("phase") != before.get("phase") and status.get(stamp) == before.get(stamp):
            status[stamp] = about.now

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        modes, capacity = spec.get("accessModes") or [], spec.get("capacity") or {}
        errors: list[FieldError] = []
        if not modes:
            errors.append(required("spec.accessModes"))
        errors += validate_modes(modes, "spec.accessModes")
        if not capacity:
            errors.append(required("spec.capacity"))
        elif "storage" not in capacity or len(capacity) > 1:
            shown = {name: str(amount) for name, amount in capacity.items()}
            errors.append(not_supported("spec.capacity", shown, ("storage",)))
        for name, amount in capacity.items():
            at = f"spec.capacity[{name}]"
            if parsed(amount) <= 0:
                errors.append(invalid(at, amount, "must be greater than zero"))
            errors += check_amount(name, amount, at)
        policy = spec.get("persistentVolumeReclaimPolicy")
        if policy not in _RECLAIM:
            at = "spec.persistentVolumeReclaimPolicy"
            errors.append(not_supported(at, policy, _RECLAIM))
        return errors + self._rest(spec)

    def _rest(self, spec: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        needed = (spec.get("nodeAffinity") or {}).get("required")
        if needed is not None:
            errors += validate_node_selector(needed, "spec.nodeAffinity.required")
        sources = [name for name in _SOURCES if spec.get(name) is not None]
        detail = "may not specify more than 1 volume type"
        errors += [forbidden(f"spec.{name}", detail) for name in sources[1:]]
        if not sources:
            errors.append(required("spec", "must specify a volume type"))
        if name := spec.get("storageClassName"):
            errors += check(dns_subdomain, "spec.storageClassName", name)
        mode = spec.get("volumeMode")
        if mode is not None and mode not in VOLUME_MODES:
            errors.append(not_supported("spec.volumeMode", mode, VOLUME_MODES))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        fresh, stored = (
            {name: held["spec"][name] for name in _SOURCES if held["spec"].get(name) is not None}
            for held in (new, old)
        )
        if fresh != stored:
            detail = "spec.persistentvolumesource is immutable after creation"
            errors.append(forbidden("spec.persistentvolumesource", detail))
        modes = new["spec"].get("volumeMode"), old["spec"].get("volumeMode")
        return errors + immutable("volumeMode", *modes)


class StorageClasses(Native):
    def default(self, new: Object) -> None:
        new.setdefault("reclaimPolicy", "Delete")
        new.setdefault("volumeBindingMode", "Immediate")

    def check(self, new: Object) -> list[FieldError]:
        provisioner = new.get("provisioner") or ""
        errors = (
            check(label_key, "provisioner", provisioner.lower())
            if provisioner
            else [required("provisioner")]
        )
        policy, mode = new.get("reclaimPolicy"), new.get("volumeBindingMode")
        if policy is not None and policy not in {"Delete", "Retain"}:
            errors.append(not_supported("reclaimPolicy", policy, ("Delete", "Retain")))
        if mode not in _BINDING:
            errors.append(not_supported("volumeBindingMode", mode, _BINDING))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if (new.get("parameters") or {}) != (old.get("parameters") or {}):
            errors.append(forbidden("parameters", "updates to parameters are forbidden."))
        for name in ("provisioner", "reclaimPolicy", "volumeBindingMode"):
            errors += immutable(name, new.get(name), old.get(name))
        return errors


class CSIDrivers(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        for name, value in (
            ("attachRequired", True),
            ("podInfoOnMount", False),
            ("storageCapacity", False),
            ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
            ("requiresRepublish", False),
            ("seLinuxMount", False),
        ):
            spec.setdefault(name, value)
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]

    def prepare_main(self, new: Object, old: Object) -> None:
        fresh, stored = new["spec"], old["spec"]
        names = ("tokenRequests", "requiresRepublish", "seLinuxMount")
        if any(fresh.get(name) != stored.get(name) for name in names):
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def check(self, new: Object) -> list[FieldError]:
        policies = ("File", "None", "ReadWriteOnceWithFSType")
        spec = new.get("spec") or {}
        errors: list[FieldError] = []
        if spec.get("fsGroupPolicy") not in policies:
            at = "spec.fsGroupPolicy"
            errors.append(not_supported(at, spec.get("fsGroupPolicy"), policies))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fresh, stored = new["spec"], old["spec"]
        errors = self.check(new)
        fixed = (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", ""))
        for name, said in fixed:
            errors += immutable(f"spec.{said or name}", fresh.get(name), stored.get(name))
        return errors
