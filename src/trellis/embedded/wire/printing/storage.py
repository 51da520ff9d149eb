# SPDX-License-Identifier: Apache-2.0
"""Rows of volumes and what provides them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.wire.printing.values import (
    NONE,
    UNSET,
    Object,
    age,
    at,
    default_mark,
    name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _phase(obj: Object) -> str:
    deleted = obj["metadata"].get("deletionTimestamp")
    return "Terminating" if deleted else str(at(obj, "status", "phase", default=""))


def _modes(listed: Iterable[str]) -> str:
    known = set(listed)
    return ",".join(short for mode, short in _MODES.items() if mode in known)


def volume(obj: Object, now: datetime) -> list[Any]:
    claim = at(obj, "spec", "claimRef")
    return [
        name(obj),
        str(at(obj, "spec", "capacity", "storage", default="0")),
        _modes(at(obj, "spec", "accessModes", default=())),
        at(obj, "spec", "persistentVolumeReclaimPolicy", default=""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        at(obj, "spec", "storageClassName", default=""),
        at(obj, "spec", "volumeAttributesClassName", default=UNSET),
        at(obj, "status", "reason", default=""),
        age(obj, now),
        at(obj, "spec", "volumeMode", default=UNSET),
    ]


def claim(obj: Object, now: datetime) -> list[Any]:
    bound = bool(at(obj, "spec", "volumeName"))
    return [
        name(obj),
        _phase(obj),
        at(obj, "spec", "volumeName", default=""),
        str(at(obj, "status", "capacity", "storage", default="0")) if bound else "",
        _modes(at(obj, "status", "accessModes", default=())) if bound else "",
        at(obj, "spec", "storageClassName", default=""),
        at(obj, "spec", "volumeAttributesClassName", default=UNSET),
        age(obj, now),
        at(obj, "spec", "volumeMode", default=UNSET),
    ]


def storage_class(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj) + default_mark(obj, _DEFAULT),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def csi_driver(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    requests = spec.get("tokenRequests")
    return [
        name(obj),
        spec.get("attachRequired") is not False,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        UNSET if requests is None else ",".join(each.get("audience", "") for each in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age(obj, now),
    ]


def attachment(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        at(obj, "spec", "attacher", default=""),
        at(obj, "spec", "source", "persistentVolumeName", default=""),
        at(obj, "spec", "nodeName", default=""),
        bool(at(obj, "status", "attached")),
        age(obj, now),
    ]
