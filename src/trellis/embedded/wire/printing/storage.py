# SPDX-License-Identifier: Apache-2.0
"""Rows of volumes and what provides them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.wire.printing.values import (
    NONE,
    UNSET,
    Cell,
    Object,
    age,
    at,
    default_mark,
    flag,
    row,
    shown,
)

if TYPE_CHECKING:
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


def _phase(obj: Object, _: datetime) -> str:
    deleted = obj["metadata"].get("deletionTimestamp")
    return "Terminating" if deleted else str(at(obj, "status", "phase", default=""))


def _modes(part: str) -> Cell:
    def cell(obj: Object, _: datetime) -> str:
        known = set(at(obj, part, "accessModes", default=()))
        return ",".join(short for mode, short in _MODES.items() if mode in known)

    return cell


def _if_bound(cell: Cell) -> Cell:
    return lambda obj, now: cell(obj, now) if at(obj, "spec", "volumeName") else ""


def _claim(obj: Object, _: datetime) -> str:
    claim = at(obj, "spec", "claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _audiences(obj: Object, _: datetime) -> str:
    requests = at(obj, "spec", "tokenRequests")
    return UNSET if requests is None else ",".join(each.get("audience", "") for each in requests)


def _lives(obj: Object, _: datetime) -> str:
    return ",".join(at(obj, "spec", "volumeLifecycleModes", default=())) or NONE


volume = row(
    shown("spec.capacity.storage", "0"),
    _modes("spec"),
    "spec.persistentVolumeReclaimPolicy",
    _phase,
    _claim,
    "spec.storageClassName",
    f"spec.volumeAttributesClassName={UNSET}",
    "status.reason",
    age,
    f"spec.volumeMode={UNSET}",
)
claim = row(
    _phase,
    "spec.volumeName",
    _if_bound(shown("status.capacity.storage", "0")),
    _if_bound(_modes("status")),
    "spec.storageClassName",
    f"spec.volumeAttributesClassName={UNSET}",
    age,
    f"spec.volumeMode={UNSET}",
)
_class = row(
    "provisioner",
    "reclaimPolicy=Delete",
    "volumeBindingMode=Immediate",
    flag("allowVolumeExpansion"),
    age,
)
storage_class = default_mark(_class, _DEFAULT)
csi_driver = row(
    lambda obj, _: at(obj, "spec", "attachRequired") is not False,
    flag("spec.podInfoOnMount"),
    flag("spec.storageCapacity"),
    _audiences,
    flag("spec.requiresRepublish"),
    _lives,
    age,
)
attachment = row(
    "spec.attacher",
    "spec.source.persistentVolumeName",
    "spec.nodeName",
    flag("status.attached"),
    age,
)
