# SPDX-License-Identifier: Apache-2.0
"""The environment of a container: names, and where values come from."""

from __future__ import annotations

import re
from typing import Any

from trellis.embedded.fielderrors import FieldError, invalid, not_supported, required
from trellis.embedded.natives.syntax import (
    check,
    config_key,
    dns_label,
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
_RESOURCES = frozenset(
    f"{kind}.{name}"
    for kind in ("limits", "requests")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPT = re.compile(r"(?P<path>[^\[]+)\['(?P<key>.*)'\]", re.DOTALL)
_DIVISORS = {
    "cpu": ("1m and 1 are", ("1m", "1"), "cpu"),
    "memory": ("", (), "memory"),
    "ephemeral-storage": ("", (), "local ephemeral storage"),
}
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_MANY = "may not have more than one field specified at a time"


def validate_env(variables: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, each in enumerate(variables):
        name = each.get("name") or ""
        if not name:
            errors.append(required(f"{path}[{position}].name"))
        elif environment_name(name):
            errors += check(environment_name, f"{path}[{position}].name", name)
        if each.get("valueFrom") is not None:
            errors += _value_from(each, f"{path}[{position}].valueFrom")
    return errors


def _value_from(variable: dict[str, Any], path: str) -> list[FieldError]:
    source = variable["valueFrom"]
    present = [name for name in _SOURCES if source.get(name) is not None]
    errors = [error for name in present for error in _SOURCES[name](source[name], f"{path}.{name}")]
    if not present:
        detail = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`"
        )
        errors.append(invalid(path, "", detail))
    elif variable.get("value"):
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(present) > 1:
        errors.append(invalid(path, "", _MANY))
    return errors


def validate_field_ref(
    field: dict[str, Any], allowed: frozenset[str], path: str
) -> list[FieldError]:
    if not field.get("apiVersion"):
        return [required(f"{path}.apiVersion")]
    wanted = field.get("fieldPath") or ""
    if not wanted:
        return [required(f"{path}.fieldPath")]
    if field["apiVersion"] != "v1":
        detail = f"error converting fieldPath: unsupported pod version: {field['apiVersion']}"
        return [invalid(f"{path}.fieldPath", wanted, detail)]
    if found := _SUBSCRIPT.fullmatch(wanted):
        return _subscripted(found, wanted, path)
    if wanted not in _KNOWN:
        detail = f"error converting fieldPath: field label not supported: {wanted}"
        return [invalid(f"{path}.fieldPath", wanted, detail)]
    return (
        [] if wanted in allowed else [not_supported(f"{path}.fieldPath", wanted, sorted(allowed))]
    )


def _subscripted(found: re.Match[str], wanted: str, path: str) -> list[FieldError]:
    if found["path"] == "metadata.annotations":
        return check(label_key, path, found["key"].lower())
    if found["path"] == "metadata.labels":
        return check(label_key, path, found["key"])
    detail = f"error converting fieldPath: field label does not support subscript: {wanted}"
    return [invalid(f"{path}.fieldPath", wanted, detail)]


def _environment_field(field: dict[str, Any], path: str) -> list[FieldError]:
    return validate_field_ref(field, FIELDS, path)


def validate_resource_ref(
    field: dict[str, Any], path: str, *, volume: bool = False
) -> list[FieldError]:
    name = field.get("resource") or ""
    errors: list[FieldError] = []
    if volume and not field.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not name:
        errors.append(required(f"{path}.resource"))
    elif name not in _RESOURCES and not name.startswith(_HUGE):
        errors.append(not_supported(f"{path}.resource", name, sorted(_RESOURCES)))
    return errors + _divisor(name, field.get("divisor") or "0", path)


def _divisor(name: str, divisor: str, path: str) -> list[FieldError]:
    if divisor == "0" or "." not in name:
        return []
    resource = name.partition(".")[2]
    resource = "hugepages" if resource.startswith("hugepages-") else resource
    few, allowed, called = _DIVISORS.get(resource, ("", (), resource))
    if divisor in (allowed or _SIZES):
        return []
    listed = few or f"{', '.join(_SIZES)} are"
    detail = f"only divisor's values {listed} supported with the {called} resource"
    return [invalid(f"{path}.divisor", name, detail)]


def _key_ref(source: dict[str, Any], path: str) -> list[FieldError]:
    errors = check(dns_subdomain, f"{path}.name", source.get("name") or "")
    if not source.get("key"):
        return [*errors, required(f"{path}.key")]
    return errors + check(config_key, f"{path}.key", source["key"])


def _file_ref(source: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, grammar in (("key", environment_name), ("volumeName", dns_label), ("path", None)):
        if not source.get(name):
            errors.append(required(f"{path}.{name}"))
        elif grammar is not None:
            errors += check(grammar, f"{path}.{name}", source[name])
        elif ".." in source[name].split("/"):
            errors.append(invalid(f"{path}.{name}", source[name], "must not contain '..'"))
    return errors


def validate_env_from(sources: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, each in enumerate(sources):
        at = f"{path}[{position}]"
        if prefix := each.get("prefix"):
            errors += check(environment_name, f"{at}.prefix", prefix)
        present = [name for name in ("configMapRef", "secretRef") if each.get(name) is not None]
        for name in present:
            if referred := each[name].get("name"):
                errors += check(dns_subdomain, f"{at}.{name}.name", referred)
            else:
                errors.append(required(f"{at}.{name}.name"))
        if not present:
            detail = "must specify one of: `configMapRef` or `secretRef`"
            errors.append(invalid(path, "", detail))
        elif len(present) > 1:
            errors.append(invalid(path, "", _MANY))
    return errors


_SOURCES = {
    "fieldRef": _environment_field,
    "resourceFieldRef": validate_resource_ref,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_ref,
}
