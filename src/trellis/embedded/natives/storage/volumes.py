# SPDX-License-Identifier: Apache-2.0
"""Persistent volumes, storage classes and CSI drivers. Nothing here stores: few checks are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, forbidden, not_supported, required
from trellis.embedded.natives.metadata import immutable, unchanged
from trellis.embedded.natives.quantities import rounded_to_milli
from trellis.embedded.natives.rules import needed, needed_text, one_of, part, struct
from trellis.embedded.natives.storage.claims import validate_modes
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import label_key

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

# What a volume's spec has beside the one field that says where the volume is.
_NO_SOURCES = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)
_DRIVER = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


def _capacity(capacity: dict[str, Any] | None, path: str) -> list[FieldError]:
    if not capacity:
        return [required(path)]
    shown = {name: str(amount) for name, amount in capacity.items()}
    return [] if set(capacity) == {"storage"} else [not_supported(path, shown, ("storage",))]


def _source(spec: dict[str, Any], path: str) -> list[FieldError]:
    sources = sorted(_sources(spec))
    detail = "may not specify more than 1 volume type"
    errors = [forbidden(f"{path}.{name}", detail) for name in sources[1:]]
    return errors if sources else [required(path, "must specify a volume type")]


def _sources(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in _NO_SOURCES}


class PersistentVolumes(Native):
    rules = part(
        spec=(
            part(
                accessModes=(needed(), validate_modes),
                capacity=_capacity,
                persistentVolumeReclaimPolicy=one_of("Delete", "Recycle", "Retain"),
            ),
            _source,
            part(volumeMode=one_of("Block", "Filesystem")),
        )
    )

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

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        if _sources(new["spec"]) != _sources(old["spec"]):
            detail = "spec.persistentvolumesource is immutable after creation"
            errors.append(forbidden("spec.persistentvolumesource", detail))
        modes = new["spec"].get("volumeMode"), old["spec"].get("volumeMode")
        return errors + immutable("volumeMode", *modes)


class StorageClasses(Native):
    rules = struct(
        provisioner=needed_text(lambda name: label_key(name.lower())),
        reclaimPolicy=one_of("Delete", "Retain"),
        volumeBindingMode=one_of("Immediate", "WaitForFirstConsumer"),
    )

    def default(self, new: Object) -> None:
        new.setdefault("reclaimPolicy", "Delete")
        new.setdefault("volumeBindingMode", "Immediate")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if (new.get("parameters") or {}) != (old.get("parameters") or {}):
            errors.append(forbidden("parameters", "updates to parameters are forbidden."))
        return errors + unchanged(new, old, "provisioner", "reclaimPolicy", "volumeBindingMode")


class CSIDrivers(Native):
    rules = struct(spec=struct(fsGroupPolicy=one_of("File", "None", "ReadWriteOnceWithFSType")))

    def default(self, new: Object) -> None:
        new["spec"] = {**_DRIVER, **(new.get("spec") or {})}
        if not new["spec"].get("volumeLifecycleModes"):
            new["spec"]["volumeLifecycleModes"] = ["Persistent"]

    def prepare_main(self, new: Object, old: Object) -> None:
        fresh, stored = new["spec"], old["spec"]
        names = ("tokenRequests", "requiresRepublish", "seLinuxMount")
        if any(fresh.get(name) != stored.get(name) for name in names):
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fresh, stored = new["spec"].get("attachRequired"), old["spec"].get("attachRequired")
        errors = self.check(new) + immutable("spec.attachedRequired", fresh, stored)
        return errors + unchanged(new, old, "spec.volumeLifecycleModes")
