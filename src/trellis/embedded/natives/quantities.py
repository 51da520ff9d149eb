# SPDX-License-Identifier: Apache-2.0
"""Amounts of resources as built-in kinds treat them: which names there are, and what adds up."""

from __future__ import annotations

from typing import Any

from trellis.api import quantity
from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.natives.syntax import check, label_key

_MILLI = quantity.UNIT // 1000
# Suffixes and signs that may say less than a thousandth.
_FINE = frozenset("nu.e")
_STANDARD = frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "storage",
        "requests.storage",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_OF_CONTAINERS = frozenset({"cpu", "memory", "ephemeral-storage"})
_WHOLE = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
NOT_NEGATIVE = "must be greater than or equal to 0"


def parsed(amount: Any) -> int:
    return quantity.parse(amount)


def written(name: str, nano: int) -> str:
    """An amount that the server computed, in the form it would have."""
    binary = name in {"memory", "ephemeral-storage", "storage"} or is_huge_page(name)
    return quantity.to_binary_text(nano) if binary else quantity.to_text(nano)


def rounded_to_milli(amounts: dict[str, Any]) -> None:
    """Amounts finer than a thousandth are rounded up to one."""
    for name, text in amounts.items():
        if isinstance(text, str) and not _FINE.isdisjoint(text):
            nano = quantity.parse(text)
            if nano % _MILLI:
                amounts[name] = quantity.to_text(-(-nano // _MILLI) * _MILLI)


def is_huge_page(name: str) -> bool:
    return name.startswith("hugepages-")


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def overcommits(name: str) -> bool:
    """Whether a request may be less than the limit."""
    return is_native(name) and not is_huge_page(name)


def is_extended(name: str) -> bool:
    if is_native(name) or name.startswith("requests."):
        return False
    return not label_key(f"requests.{name}")


def check_name(name: str, path: str) -> list[FieldError]:
    if problems := check(label_key, path, name):
        return problems
    if "/" not in name and name not in _STANDARD and not is_huge_page(name):
        return [invalid(path, name, "must be a standard resource type or fully qualified")]
    return []


def check_container_name(name: str, path: str) -> list[FieldError]:
    if name in _OF_CONTAINERS:
        return []
    errors = check_name(name, path)
    if "/" not in name:
        if not is_huge_page(name):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def check_amount(name: str, text: Any, path: str) -> list[FieldError]:
    """Not negative, and whole where parts make no sense."""
    nano = quantity.parse(text)
    errors = [invalid(path, text, NOT_NEGATIVE)] if nano < 0 else []
    if nano % quantity.UNIT and (name in _WHOLE or is_extended(name)):
        errors.append(invalid(path, text, "must be an integer"))
    return errors


def aggregated(spec: dict[str, Any], which: str) -> dict[str, int]:
    """What the containers of a pod need together, in nano-units."""
    total: dict[str, int] = {}
    for container in spec.get("containers") or ():
        _add(total, container, which)
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(total, container, which)
            _add(sidecars, container, which)
            now = sidecars
        else:
            now = dict(sidecars)
            _add(now, container, which)
        for name, nano in now.items():
            peak[name] = max(peak.get(name, 0), nano)
    for name, nano in peak.items():
        total[name] = max(total.get(name, 0), nano)
    return total


def _add(total: dict[str, int], container: dict[str, Any], which: str) -> None:
    for name, text in ((container.get("resources") or {}).get(which) or {}).items():
        total[name] = total.get(name, 0) + quantity.parse(text)
