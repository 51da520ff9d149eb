# SPDX-License-Identifier: Apache-2.0
"""The volumes of a pod: names, and the sources that people use. Rare ones pass unread."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.metadata import validate_annotations, validate_labels
from trellis.embedded.natives.pod.environment import validate_field_ref, validate_resource_ref
from trellis.embedded.natives.quantities import parsed
from trellis.embedded.natives.storage.claims import validate_claim_spec
from trellis.embedded.natives.syntax import check, dns_label

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_BACK = "must not contain '..'"
VOLUME_FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.labels",
        "metadata.annotations",
        "metadata.uid",
    }
)


def validate_volumes(
    volumes: list[dict[str, Any]], path: str
) -> tuple[dict[str, dict[str, Any]], list[FieldError]]:
    """The well-formed volumes by name, and what is wrong with the others."""
    good: dict[str, dict[str, Any]] = {}
    errors: list[FieldError] = []
    for position, volume in enumerate(volumes):
        at = f"{path}[{position}]"
        name = volume.get("name") or ""
        found = _source(volume, at)
        found += check(dns_label, f"{at}.name", name) if name else [required(f"{at}.name")]
        if name in good:
            found.append(duplicate(f"{at}.name", name))
        if found:
            errors += found
        else:
            good[name] = volume
    return good, errors


def _source(volume: dict[str, Any], path: str) -> list[FieldError]:
    # The order in which the server looks at them: the first is taken, the others are too many.
    present = [name for name in _SOURCES if volume.get(name) is not None]
    if not present:
        others = [name for name in volume if name != "name" and volume[name] is not None]
        return [] if others else [required(path, "must specify a volume type")]
    errors = _SOURCES[present[0]](volume[present[0]], f"{path}.{present[0]}")
    for extra in present[1:]:
        detail = "may not specify more than 1 volume type"
        errors.append(forbidden(f"{path}.{extra}", detail))
    return errors


def _empty_dir(source: dict[str, Any], path: str) -> list[FieldError]:
    limit = source.get("sizeLimit")
    if limit is not None and parsed(limit) < 0:
        return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def _host_path(source: dict[str, Any], path: str) -> list[FieldError]:
    target = source.get("path") or ""
    if not target:
        return [required(f"{path}.path")]
    errors = _no_back_steps(target, f"{path}.path")
    kind = source.get("type")
    if kind is not None and kind not in _HOST_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_TYPES))
    return errors


def _no_back_steps(target: str, path: str) -> list[FieldError]:
    return [invalid(path, target, _BACK)] if ".." in target.split("/") else []


def local_path(target: str, path: str) -> list[FieldError]:
    """Relative, and staying below where it starts."""
    errors = []
    if target.startswith("/"):
        errors.append(invalid(path, target, "must be a relative path"))
    return errors + _no_back_steps(target, path)


def _mode(value: int | None, path: str) -> list[FieldError]:
    return [invalid(path, value, _MODE)] if value is not None and not 0 <= value <= 0o777 else []


def _items(items: list[dict[str, Any]] | None, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, item in enumerate(items or ()):
        at = f"{path}.items[{position}]"
        if not item.get("key"):
            errors.append(required(f"{at}.key"))
        if not item.get("path"):
            errors.append(required(f"{at}.path"))
        errors += _reserved_path(item.get("path") or "", f"{at}.path")
        errors += _mode(item.get("mode"), f"{at}.mode")
    return errors


def _reserved_path(target: str, path: str) -> list[FieldError]:
    errors = local_path(target, path)
    if target.startswith("..") and not target.startswith("../"):
        errors.append(invalid(path, target, "must not start with '..'"))
    return errors


def _secret(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = [] if source.get("secretName") else [required(f"{path}.secretName")]
    errors += _mode(source.get("defaultMode"), f"{path}.defaultMode")
    return errors + _items(source.get("items"), path)


def _config_map(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = [] if source.get("name") else [required(f"{path}.name")]
    errors += _mode(source.get("defaultMode"), f"{path}.defaultMode")
    return errors + _items(source.get("items"), path)


def _downward(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = _mode(source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items") or ():
        errors += _downward_file(item, path)
    return errors


def _downward_file(item: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not item.get("path"):
        errors.append(required(f"{path}.path"))
    errors += _reserved_path(item.get("path") or "", f"{path}.path")
    if (field := item.get("fieldRef")) is not None:
        errors += validate_field_ref(field, VOLUME_FIELDS, f"{path}.fieldRef")
        if item.get("resourceFieldRef") is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", detail))
    elif (amount := item.get("resourceFieldRef")) is not None:
        errors += validate_resource_ref(amount, f"{path}.resourceFieldRef", volume=True)
    else:
        errors.append(
            required(f"{path}.fieldRef", "one of fieldRef and resourceFieldRef is required")
        )
    return errors + _mode(item.get("mode"), f"{path}.mode")


def _projected(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = _mode(source.get("defaultMode"), f"{path}.defaultMode")
    for position, each in enumerate(source.get("sources") or ()):
        at = f"{path}.sources[{position}]"
        named = [name for name in _PROJECTIONS if each.get(name) is not None]
        if not named:
            errors.append(required(at, "must specify a projection type"))
            continue
        errors += _PROJECTIONS[named[0]](each[named[0]], f"{at}.{named[0]}")
        detail = "may not specify more than 1 volume type"
        errors += [forbidden(f"{at}.{extra}", detail) for extra in named[1:]]
    return errors


def _projected_items(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = [] if source.get("name") else [required(f"{path}.name")]
    return errors + _items(source.get("items"), path)


def _token(source: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seconds = source.get("expirationSeconds") or 0
    if seconds < 600:
        detail = "may not specify a duration less than 10 minutes"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    elif seconds > 1 << 32:
        detail = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    if not source.get("path"):
        errors.append(required(f"{path}.path"))
    return errors + _reserved_path(source.get("path") or "", f"{path}.path")


def _claim(source: dict[str, Any], path: str) -> list[FieldError]:
    return [] if source.get("claimName") else [required(f"{path}.claimName")]


def _ephemeral(source: dict[str, Any], path: str) -> list[FieldError]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    at = f"{path}.volumeClaimTemplate"
    metadata = template.get("metadata") or {}
    errors = validate_annotations(metadata.get("annotations") or {}, f"{at}.metadata.annotations")
    errors += validate_labels(metadata.get("labels") or {}, f"{at}.metadata.labels")
    return errors + validate_claim_spec(template.get("spec") or {}, f"{at}.spec")


def _nfs(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = [required(f"{path}.{name}") for name in ("server", "path") if not source.get(name)]
    if not (source.get("path") or "").startswith("/"):
        errors.append(invalid(f"{path}.path", source.get("path") or "", "must be an absolute path"))
    return errors


def _driver(source: dict[str, Any], path: str) -> list[FieldError]:
    return [] if source.get("driver") else [required(f"{path}.driver")]


def _image(source: dict[str, Any], path: str) -> list[FieldError]:
    return [] if source.get("reference") else [required(f"{path}.reference")]


_PROJECTIONS = {
    "secret": _projected_items,
    "configMap": _projected_items,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
_SOURCES = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "secret": _secret,
    "nfs": _nfs,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward,
    "configMap": _config_map,
    "projected": _projected,
    "csi": _driver,
    "ephemeral": _ephemeral,
    "image": _image,
}
