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
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native, keep
from trellis.embedded.natives.syntax import check, dns_subdomain

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def default_claim_spec(spec: dict[str, Any]) -> None:
    spec.setdefault("volumeMode", "Filesystem")
    if amounts := (spec.get("resources") or {}).get("requests"):
        rounded_to_milli(amounts)


def default_claim(claim: dict[str, Any]) -> None:
    default_claim_spec(claim.setdefault("spec", {}))
    claim.setdefault("status", {}).setdefault("phase", "Pending")


def validate_claim_spec(spec: dict[str, Any], path: str) -> list[FieldError]:
    modes = spec.get("accessModes") or []
    errors: list[FieldError] = []
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += validate_selector(spec.get("selector"), f"{path}.selector")
    errors += validate_modes(modes, f"{path}.accessModes")
    errors += _size(spec, f"{path}.resources[storage]")
    for name in ("storageClassName", "volumeAttributesClassName"):
        if value := spec.get(name):
            errors += check(dns_subdomain, f"{path}.{name}", value)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    for name in ("dataSource", "dataSourceRef"):
        if (source := spec.get(name)) is not None:
            missing = [field for field in ("name", "kind") if not source.get(field)]
            errors += [required(f"{path}.{name}.{field}") for field in missing]
    return errors


def _size(spec: dict[str, Any], path: str) -> list[FieldError]:
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        return [required(path)]
    return [] if parsed(size) > 0 else [invalid(path, size, "must be greater than zero")]


def validate_modes(modes: list[str], path: str) -> list[FieldError]:
    errors = [not_supported(path, mode, MODES) for mode in modes if mode not in MODES]
    if "ReadWriteOncePod" in modes and any(m in MODES and m != "ReadWriteOncePod" for m in modes):
        detail = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(path, detail))
    return errors


class PersistentVolumeClaims(Native):
    def default(self, new: Object) -> None:
        default_claim(new)

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        new["status"] = {"phase": "Pending"}
        source = new["spec"].get("dataSource")
        if source is not None and new["spec"].get("dataSourceRef") is None:
            new["spec"]["dataSourceRef"] = dict(source)

    def check(self, new: Object) -> list[FieldError]:
        return validate_claim_spec(new.get("spec") or {}, "spec")

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
