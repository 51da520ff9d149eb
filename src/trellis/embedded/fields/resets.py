# SPDX-License-Identifier: Apache-2.0
"""Fields that a write cannot set, wherever it says so: nobody comes to own them by it.

The main resource leaves the status alone; a status leaves alone what its kind says.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from trellis.embedded.fields.sets import Fields, of_paths

if TYPE_CHECKING:
    from trellis.embedded.fields.elements import Path
    from trellis.embedded.served import Served

_SPEC: Path = ("f:spec",)
_STATUS: Path = ("f:status",)
_METADATA: Path = ("f:metadata",)
# Kinds whose status takes nothing of the metadata either.
_STATUS_ALONE = {
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceClaim"),
    ("resource.k8s.io", "ResourcePoolStatusRequest"),
    ("scheduling.k8s.io", "PodGroup"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
}
_OF_STATUS: dict[tuple[str, str], tuple[Path, ...]] = {
    ("apps", "Deployment"): (_SPEC, ("f:metadata", "f:labels")),
    ("", "Pod"): (
        _SPEC,
        ("f:metadata", "f:deletionTimestamp"),
        ("f:metadata", "f:ownerReferences"),
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): (_SPEC, ("f:status", "f:conditions")),
}
_OF_OTHERS: dict[tuple[str, str, str], tuple[Path, ...]] = {
    ("certificates.k8s.io", "CertificateSigningRequest", ""): (_SPEC, _STATUS),
    ("certificates.k8s.io", "CertificateSigningRequest", "approval"): (
        _SPEC,
        ("f:status", "f:certificate"),
    ),
    ("", "Namespace", "finalize"): (_STATUS,),
}


def resets(served: Served, subresource: str) -> Fields:
    """What a write to the resource, or to a subresource of it, does not change."""
    return _resets((served.group, served.kind), subresource, served.has_status, served.custom)


@lru_cache(maxsize=4096)
def _resets(kind: tuple[str, str], subresource: str, has_status: bool, custom: bool) -> Fields:
    special = _OF_OTHERS.get((*kind, subresource))
    if special is not None and not custom:
        return of_paths(*special)
    if not subresource:
        return of_paths(_STATUS) if has_status else {}
    if subresource != "status":
        return {}
    if custom or kind in _STATUS_ALONE:
        return of_paths(_METADATA, _SPEC)
    return of_paths(*_OF_STATUS.get(kind, (_SPEC,)))
