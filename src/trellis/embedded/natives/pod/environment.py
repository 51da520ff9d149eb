# SPDX-License-Identifier: Apache-2.0
"""The environment of a container: names, and where values come from."""

from __future__ import annotations

import re
from typing import Any

from trellis.embedded.fielderrors import FieldError, invalid, not_supported, required
from trellis.embedded.natives.rules import (
    Rule,
    any_text,
    needed,
    needed_choice,
    needed_text,
    struct,
    text,
)
from trellis.embedded.natives.syntax import (
    check,
    config_key,
    dns_subdomain,
    environment_name,
    label_key,
)

FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
_KNOWN = FIELDS | {
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.hostNetwork",
    "status.phase",
}
_RESOURCES = sorted(
    f"{kind}.{name}"
    for kind in ("limits", "requests")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_SUBSCRIPT = re.compile(r"(?P<path>[^\[]+)\['(?P<key>.*)'\]", re.DOTALL)
_MANY = "may not have more than one field specified at a time"


def field_ref(allowed: frozenset[str]) -> Rule:
    def rule(field: dict[str, Any], path: str) -> list[FieldError]:
        wanted, at = field.get("fieldPath") or "", f"{path}.fieldPath"
        if not wanted:
            return [required(at)]
        if found := _SUBSCRIPT.fullmatch(wanted):
            return _subscripted(found, wanted, path)
        if wanted not in _KNOWN:
            detail = f"error converting fieldPath: field label not supported: {wanted}"
            return [invalid(at, wanted, detail)]
        return [] if wanted in allowed else [not_supported(at, wanted, sorted(allowed))]

    return rule


def _subscripted(found: re.Match[str], wanted: str, path: str) -> list[FieldError]:
    if found["path"] == "metadata.annotations":
        return check(label_key, path, found["key"].lower())
    if found["path"] == "metadata.labels":
        return check(label_key, path, found["key"])
    detail = f"error converting fieldPath: field label does not support subscript: {wanted}"
    return [invalid(f"{path}.fieldPath", wanted, detail)]


def _resource(name: str | None, path: str) -> list[FieldError]:
    if (name or "").startswith(("limits.hugepages-", "requests.hugepages-")):
        return []
    return needed_choice(*_RESOURCES)(name, path)


resource_ref = struct(resource=_resource)
_KEY = struct(name=any_text(dns_subdomain), key=needed_text(config_key))
_SOURCES = {
    "fieldRef": field_ref(FIELDS),
    "resourceFieldRef": resource_ref,
    "configMapKeyRef": _KEY,
    "secretKeyRef": _KEY,
    "fileKeyRef": struct(key=needed(), volumeName=needed(), path=needed()),
}


def _value_from(variable: dict[str, Any], path: str) -> list[FieldError]:
    source, at = variable.get("valueFrom"), f"{path}.valueFrom"
    if source is None:
        return []
    present = [name for name in _SOURCES if source.get(name) is not None]
    errors = [error for name in present for error in _SOURCES[name](source[name], f"{at}.{name}")]
    if not present:
        detail = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`"
        )
        errors.append(invalid(at, "", detail))
    elif variable.get("value"):
        errors.append(invalid(at, "", "may not be specified when `value` is not empty"))
    elif len(present) > 1:
        errors.append(invalid(at, "", _MANY))
    return errors


_NAME = needed_text(environment_name)


def validate_env(variables: list[dict[str, Any]], path: str) -> list[FieldError]:
    return [
        error
        for position, each in enumerate(variables)
        for error in (
            *_NAME(each.get("name"), f"{path}[{position}].name"),
            *_value_from(each, f"{path}[{position}]"),
        )
    ]


_NAMED = struct(name=needed_text(dns_subdomain))
_FROM = struct(prefix=text(environment_name), configMapRef=_NAMED, secretRef=_NAMED)


def validate_env_from(sources: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, each in enumerate(sources):
        errors += _FROM(each, f"{path}[{position}]")
        given = [name for name in ("configMapRef", "secretRef") if each.get(name) is not None]
        if len(given) != 1:
            detail = _MANY if given else "must specify one of: `configMapRef` or `secretRef`"
            errors.append(invalid(path, "", detail))
    return errors
