# SPDX-License-Identifier: Apache-2.0
"""The volumes of a pod: names, and the sources that people use. Rare ones pass unread."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import FieldError, duplicate, forbidden, invalid, required
from trellis.embedded.natives.metadata import validate_annotations, validate_labels
from trellis.embedded.natives.pod.environment import field_ref, resource_ref
from trellis.embedded.natives.quantities import parsed
from trellis.embedded.natives.rules import (
    all_of,
    anything,
    at_least,
    every,
    needed,
    needed_text,
    one_of,
    part,
    struct,
    variant,
)
from trellis.embedded.natives.storage.claims import validate_claim_spec
from trellis.embedded.natives.syntax import dns_label

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
_TOO_MANY = "may not specify more than 1 volume type"
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
        found += _NAME(name, f"{at}.name")
        if name in good:
            found.append(duplicate(f"{at}.name", name))
        if found:
            errors += found
        else:
            good[name] = volume
    return good, errors


_NAME = needed_text(dns_label)


def _source(volume: dict[str, Any], path: str) -> list[FieldError]:
    if any(value is not None for name, value in volume.items() if name not in _KNOWN):
        return []
    return _VOLUME(volume, path)


def _size(limit: str | None, path: str) -> list[FieldError]:
    if limit is None or parsed(limit) >= 0:
        return []
    return [forbidden(path, "SizeLimit field must be a valid resource quantity")]


def _no_back_steps(target: str | None, path: str) -> list[FieldError]:
    back = ".." in (target or "").split("/")
    return [invalid(path, target, "must not contain '..'")] if back else []


def local_path(target: str, path: str) -> list[FieldError]:
    """Relative, and staying below where it starts."""
    errors = []
    if target.startswith("/"):
        errors.append(invalid(path, target, "must be a relative path"))
    return errors + _no_back_steps(target, path)


def _inside(target: str | None, path: str) -> list[FieldError]:
    target = target or ""
    errors = [] if target else [required(path)]
    errors += local_path(target, path)
    if target.startswith("..") and not target.startswith("../"):
        errors.append(invalid(path, target, "must not start with '..'"))
    return errors


def _mode(value: int | None, path: str) -> list[FieldError]:
    detail = "must be a number between 0 and 0777 (octal), both inclusive"
    return [] if value is None or 0 <= value <= 0o777 else [invalid(path, value, detail)]


def _either(item: dict[str, Any], path: str) -> list[FieldError]:
    if item.get("fieldRef") is not None or item.get("resourceFieldRef") is not None:
        return []
    return [required(f"{path}.fieldRef", "one of fieldRef and resourceFieldRef is required")]


def _ephemeral(source: dict[str, Any], path: str) -> list[FieldError]:
    template, at = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        return [required(at)]
    metadata = template.get("metadata") or {}
    errors = validate_annotations(metadata.get("annotations") or {}, f"{at}.metadata.annotations")
    errors += validate_labels(metadata.get("labels") or {}, f"{at}.metadata.labels")
    return errors + validate_claim_spec(template.get("spec") or {}, f"{at}.spec")


def _files(source: dict[str, Any], path: str) -> list[FieldError]:
    """The server names none of them by its position."""
    return [error for item in source.get("items") or () for error in _FILE(item, path)]


_ITEMS = every(struct(key=needed(), path=_inside, mode=_mode))
_FIELD = field_ref(VOLUME_FIELDS)
_FILE = all_of(
    struct(
        path=_inside,
        fieldRef=lambda value, path: [] if value is None else _FIELD(value, path),
        resourceFieldRef=resource_ref,
    ),
    _either,
    struct(mode=_mode),
)
_DOWNWARD = all_of(struct(defaultMode=_mode), _files)
_NAMED_ITEMS = struct(name=needed(), items=_ITEMS)
_PROJECTION = variant(
    {
        "secret": _NAMED_ITEMS,
        "configMap": _NAMED_ITEMS,
        "downwardAPI": _DOWNWARD,
        "serviceAccountToken": part(
            expirationSeconds=at_least(600, "may not specify a duration less than 10 minutes"),
            path=_inside,
        ),
        "clusterTrustBundle": anything,
        "podCertificate": anything,
    },
    none="must specify a projection type",
    several=_TOO_MANY,
)
# The order in which the server looks at them: the first is taken, the others are too many.
_SOURCES = {
    "emptyDir": struct(sizeLimit=_size),
    "hostPath": struct(path=(needed(), _no_back_steps), type=one_of(*_HOST_TYPES)),
    "secret": struct(secretName=needed(), defaultMode=_mode, items=_ITEMS),
    "nfs": struct(server=needed(), path=needed()),
    "persistentVolumeClaim": struct(claimName=needed()),
    "downwardAPI": _DOWNWARD,
    "configMap": struct(name=needed(), defaultMode=_mode, items=_ITEMS),
    "projected": struct(defaultMode=_mode, sources=every(_PROJECTION)),
    "csi": struct(driver=needed()),
    "ephemeral": _ephemeral,
    "image": struct(reference=needed()),
}
_KNOWN = frozenset({"name", *_SOURCES})
_VOLUME = variant(_SOURCES, none="must specify a volume type", several=_TOO_MANY)
