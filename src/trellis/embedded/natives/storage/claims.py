# SPDX-License-Identifier: Apache-2.0
"""Claims of persistent volumes: what they ask for, and that they hardly change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.goforms import difference
from trellis.embedded.natives.metadata import immutable
from trellis.embedded.natives.quantities import parsed, rounded_to_milli
from trellis.embedded.natives.rules import all_of, needed, one_of, part, struct, text
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native, keep
from trellis.embedded.natives.syntax import dns_subdomain

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def default_claim_spec(spec: dict[str, Any]) -> None:
    spec.setdefault("volumeMode", "Filesystem")
    if amounts := (spec.get("resources") or {}).get("requests"):
        rounded_to_milli(amounts)


def default_claim(claim: dict[str, Any]) -> None:
    default_claim_spec(claim.setdefault("spec", {}))
    claim.setdefault("status", {}).setdefault("phase", "Pending")


def _size(resources: dict[str, Any] | None, path: str) -> list[FieldError]:
    size = ((resources or {}).get("requests") or {}).get("storage")
    at = f"{path}[storage]"
    if size is None:
        return [required(at)]
    return [] if parsed(size) > 0 else [invalid(at, size, "must be greater than zero")]


def validate_modes(modes: list[str] | None, path: str) -> list[FieldError]:
    errors = [not_supported(path, mode, MODES) for mode in modes or () if mode not in MODES]
    if "ReadWriteOncePod" in (modes or ()) and not set(modes or ()).isdisjoint(MODES[:3]):
        detail = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(path, detail))
    return errors


_CLASS = text(dns_subdomain)
_SOURCE = struct(name=needed(), kind=needed())
validate_claim_spec = all_of(
    struct(
        accessModes=needed("at least 1 access mode is required"),
        selector=validate_selector,
    ),
    struct(
        accessModes=validate_modes,
        resources=_size,
        storageClassName=_CLASS,
        volumeAttributesClassName=_CLASS,
        volumeMode=one_of("Block", "Filesystem"),
        dataSource=_SOURCE,
        dataSourceRef=_SOURCE,
    ),
)


class PersistentVolumeClaims(Native):
    rules = part(spec=validate_claim_spec)

    def default(self, new: Object) -> None:
        default_claim(new)

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        new["status"] = {"phase": "Pending"}
        source = new["spec"].get("dataSource")
        if source is not None and new["spec"].get("dataSourceRef") is None:
            new["spec"]["dataSourceRef"] = dict(source)

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        fresh, stored = copied(new["spec"]), copied(old["spec"])
        if not stored.get("volumeName") and "volumeName" in fresh:
            stored["volumeName"] = fresh["volumeName"]
        sizes = [
            ((spec.get("resources") or {}).get("requests") or {}).get("storage")
            for spec in (fresh, stored)
        ]
        if (new.get("status") or {}).get("phase") == "Bound":
            if sizes[0] is not None and sizes[1] is not None:
                fresh["resources"]["requests"]["storage"] = sizes[1]
            keep(fresh, stored, "volumeAttributesClassName")
        if fresh != stored:
            shown = difference("core.PersistentVolumeClaimSpec", stored, fresh)
            detail = (
                "spec is immutable after creation except resources.requests and "
                f"volumeAttributesClassName for bound claims\n{shown}"
            )
            errors.append(forbidden("spec", detail))
        errors += self._shrunk(sizes, old)
        modes = new["spec"].get("volumeMode"), old["spec"].get("volumeMode")
        return errors + immutable("volumeMode", *modes)

    def _shrunk(self, sizes: list[Any], old: Object) -> list[FieldError]:
        if sizes[0] is None or sizes[1] is None or parsed(sizes[0]) >= parsed(sizes[1]):
            return []
        capacity = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
        if parsed(sizes[0]) > parsed(capacity):
            return []
        detail = "field can not be less than status.capacity"
        return [forbidden("spec.resources.requests.storage", detail)]
