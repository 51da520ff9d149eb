# SPDX-License-Identifier: Apache-2.0
"""Slices of a driver's pool of devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
    too_many,
)
from trellis.embedded.natives.dra.parts import (
    EFFECTS,
    validate_driver,
    validate_pool,
    validate_qualified,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import unchanged
from trellis.embedded.natives.rules import (
    any_text,
    at_least,
    distinct,
    every,
    more_than_none,
    needed_choice,
    part,
    struct,
    text,
)
from trellis.embedded.natives.selectors import validate_node_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, dns_label, dns_subdomain, label_key, label_value

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_MOST_DEVICES = 128
_MOST_WITH_TAINTS = 64
_MOST_VALUES = 32
_LONGEST_VALUE = 64
_WHERE = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_EMPTY_SELECTOR: tuple[str, Any] = ("nodeSelector", {})
_LISTS = frozenset({"ints", "bools", "strings", "versions"})
_VALUES = _LISTS | {"int", "bool", "string", "version"}
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


class ResourceSlices(Native):
    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        _date_taints(new, about.now)

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        _date_taints(new, about.now)
        super().prepare_update(new, old, about)

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = validate_driver(spec.get("driver") or "", "spec.driver")
        errors += _POOL(spec.get("pool"), "spec.pool")
        errors += _where(spec)
        return errors + _devices(spec)

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        return errors + unchanged(new, old, "spec.pool.name", "spec.driver", "spec.nodeName")

    def warnings(self, new: Object, old: Object | None) -> list[str]:  # noqa: ARG002
        driver = (new.get("spec") or {}).get("driver") or ""
        if driver == driver.lower():
            return []
        said = f'driver names should be lowercase; "{driver}" contains uppercase characters'
        return [f"spec.driver: {said}"]


def _date_taints(new: Object, now: str) -> None:
    for device in (new.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = now


_POOL = part(
    name=lambda value, path: validate_pool(value or "", path),
    resourceSliceCount=more_than_none(),
    generation=at_least(0, "must be greater than or equal to zero"),
)
_TAINT = struct(key=any_text(label_key), value=text(label_value), effect=needed_choice(*EFFECTS))


def _where(spec: dict[str, Any]) -> list[FieldError]:
    """For one node, for some, for all, or as each device says."""
    errors = _nodes(spec)
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            detail = "must be either unset or set to true"
            errors.append(invalid(f"spec.{name}", False, detail))
    given = [name for name in _WHERE if spec.get(name) or (name, spec.get(name)) == _EMPTY_SELECTOR]
    listed = ", ".join(f"`{name}`" for name in _WHERE)
    said = f"exactly one of {listed} is required"
    if not given:
        errors.append(required("spec", said))
    elif len(given) > 1:
        both = ", ".join(f"`{name}`" for name in given)
        detail = f"{said}, but multiple fields are set"
        errors.append(invalid("spec", f"{{{both}}}", detail))
    return errors


def _nodes(spec: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if node:
        errors += check(dns_subdomain, "spec.nodeName", node)
    elif node is not None:
        detail = "must be either unset or set to a non-empty string"
        errors.append(invalid("spec.nodeName", node, detail))
    if selector is not None:
        errors += validate_node_selector(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            at = "spec.nodeSelector.nodeSelectorTerms"
            shown = printed("[]core.NodeSelectorTerm", terms)
            errors.append(invalid(at, shown, "must have exactly one node selector term"))
    return errors


def _devices(spec: dict[str, Any]) -> list[FieldError]:
    devices, at = spec.get("devices") or [], "spec.devices"
    advanced = any(_is_advanced(device) for device in devices)
    most = _MOST_WITH_TAINTS if advanced else _MOST_DEVICES
    if len(devices) > most:
        return [too_many(at, len(devices), most)]
    errors: list[FieldError] = []
    own = bool(spec.get("perDeviceNodeSelection"))
    for position, device in enumerate(devices):
        errors += _device(device, f"{at}[{position}]", own=own)
    return errors + distinct("name")(devices, at)


def _is_advanced(device: dict[str, Any]) -> bool:
    attributes = (device.get("attributes") or {}).values()
    return bool(
        device.get("taints")
        or device.get("consumesCounters")
        or any(
            name in _LISTS and value is not None
            for attribute in attributes
            for name, value in attribute.items()
        )
    )


def _device(device: dict[str, Any], path: str, *, own: bool) -> list[FieldError]:
    errors = check(dns_label, f"{path}.name", device.get("name") or "")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MOST_VALUES:
        detail = f"the total number of attributes and capacities must not exceed {_MOST_VALUES}"
        errors.append(invalid(path, count, detail))
    for name, attribute in attributes.items():
        errors += validate_qualified(name, f"{path}.attributes")
        errors += _attribute(attribute, f"{path}.attributes[{name}]")
    for name, amount in capacity.items():
        errors += validate_qualified(name, f"{path}.capacity")
        if amount.get("requestPolicy") is not None and not device.get("allowMultipleAllocations"):
            detail = "allowMultipleAllocations must be true"
            errors.append(forbidden(f"{path}.capacity[{name}].requestPolicy", detail))
    errors += every(_TAINT, 16)(device.get("taints"), f"{path}.taints")
    return errors + _own_place(device, path, own=own)


def _own_place(device: dict[str, Any], path: str, *, own: bool) -> list[FieldError]:
    """A device says where it is if, and only if, its slice leaves that to devices."""
    named = any(device.get(name) is not None for name in _WHERE[:3])
    if named and not own:
        detail = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
            "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        )
        return [invalid(path, None, detail)]
    if own and not named:
        detail = (
            "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
            "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        )
        return [required(path, detail)]
    return []


def _attribute(attribute: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if (text := attribute.get("string")) is not None and len(text.encode()) > _LONGEST_VALUE:
        errors.append(too_long(f"{path}.string", _LONGEST_VALUE))
    if (version := attribute.get("version")) is not None:
        if not _SEMVER.fullmatch(version):
            detail = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(invalid(f"{path}.version", version, detail))
        if len(version.encode()) > _LONGEST_VALUE:
            errors.append(too_long(f"{path}.version", _LONGEST_VALUE))
    given = [name for name, value in attribute.items() if name in _VALUES and value is not None]
    if len(given) != 1:
        shown: Any = printed("resource.DeviceAttribute", attribute) if given else ""
        errors.append(invalid(path, shown, "exactly one value must be specified"))
    return errors
