# SPDX-License-Identifier: Apache-2.0
"""The status of a claim: which devices it got, who uses them, how they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    Verbatim,
    forbidden,
    invalid,
    too_many,
)
from trellis.embedded.natives.dra.parts import validate_config, validate_driver, validate_pool
from trellis.embedded.natives.dra.requests import Requests
from trellis.embedded.natives.metadata import immutable
from trellis.embedded.natives.rules import all_of, distinct, every, needed, struct
from trellis.embedded.natives.selectors import validate_node_selector
from trellis.embedded.natives.syntax import check, dns_label

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_USERS = all_of(
    every(struct(resource=needed(), name=needed(), uid=needed()), 256), distinct("uid", 256)
)
_MOST_RESULTS = 32
_MOST_CONFIGS = 64


def validate_claim_status(new: Object, old: Object) -> list[FieldError]:
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation, users = status.get("allocation"), status.get("reservedFor") or []
    at = "status.reservedFor"
    errors = _USERS(users, at)
    errors += _devices(status.get("devices") or [], allocation)
    if users and allocation is None:
        errors.append(forbidden(at, "may not be specified when `allocated` is not set"))
    elif new["metadata"].get("deletionTimestamp") and any(
        user not in (before.get("reservedFor") or []) for user in users
    ):
        detail = (
            "new entries may not be added while `deallocationRequested` or "
            "`deletionTimestamp` are set"
        )
        errors.append(forbidden(at, detail))
    if allocation is not None:
        errors += _allocation(new, allocation, before.get("allocation"))
    return errors


def _allocation(
    claim: Object, allocation: dict[str, Any], before: dict[str, Any] | None
) -> list[FieldError]:
    at = "status.allocation"
    if before is not None:
        return immutable(at, allocation, before, "*resource.AllocationResult")
    devices = allocation.get("devices") or {}
    known = Requests.of(((claim.get("spec") or {}).get("devices") or {}).get("requests") or [])
    results = devices.get("results") or []
    if len(results) > _MOST_RESULTS:
        return [too_many(f"{at}.devices.results", len(results), _MOST_RESULTS)]
    errors: list[FieldError] = []
    for position, result in enumerate(results):
        errors += _result(result, known, f"{at}.devices.results[{position}]")
    configs = devices.get("config") or []
    if len(configs) > _MOST_CONFIGS:
        errors.append(too_many(f"{at}.devices.config", len(configs), _MOST_CONFIGS))
    for position, config in enumerate(configs[:_MOST_CONFIGS]):
        here = f"{at}.devices.config[{position}]"
        errors += known.check_all(config.get("requests") or [], f"{here}.requests")
        errors += validate_config(config, here)
    if (selector := allocation.get("nodeSelector")) is not None:
        errors += validate_node_selector(selector, f"{at}.nodeSelector")
    return errors


def _result(result: dict[str, Any], known: Requests, path: str) -> list[FieldError]:
    errors = known.check(result.get("request") or "", f"{path}.request")
    return errors + _device(result, path)


def _device(device: dict[str, Any], path: str) -> list[FieldError]:
    errors = validate_driver(device.get("driver") or "", f"{path}.driver")
    errors += validate_pool(device.get("pool") or "", f"{path}.pool")
    return errors + check(dns_label, f"{path}.device", device.get("device") or "")


def _devices(devices: list[dict[str, Any]], allocation: dict[str, Any] | None) -> list[FieldError]:
    results = ((allocation or {}).get("devices") or {}).get("results") or []
    allocated = {_identity(result) for result in results}
    errors: list[FieldError] = []
    for position, device in enumerate(devices):
        at = f"status.devices[{position}]"
        errors += _device(device, at)
        if _identity(device) not in allocated:
            names = ("Driver", "Pool", "Device", "ShareID")
            shown = json.dumps(
                dict(zip(names, _identity(device), strict=True)), separators=(",", ":")
            )
            detail = "must be an allocated device in the claim"
            errors.append(invalid(at, Verbatim(shown), detail))
        conditions = device.get("conditions") or []
        if len(conditions) > 8:
            errors.append(too_many(f"{at}.conditions", len(conditions), 8))
    return errors


def _identity(device: dict[str, Any]) -> tuple[str, str, str, str]:
    driver, pool, name = (device.get(field) or "" for field in ("driver", "pool", "device"))
    return driver, pool, name, device.get("shareID") or ""
