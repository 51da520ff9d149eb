# SPDX-License-Identifier: Apache-2.0
"""Claims of devices, the templates of claims, and the classes they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.dra.allocation import validate_claim_status
from trellis.embedded.natives.dra.parts import (
    validate_config,
    validate_configs,
    validate_fully_qualified,
    validate_selectors,
    validate_tolerations,
)
from trellis.embedded.natives.dra.requests import Requests
from trellis.embedded.natives.metadata import immutable, validate_annotations, validate_labels
from trellis.embedded.natives.quantities import is_extended
from trellis.embedded.natives.rules import all_of, distinct, every, needed_text, struct
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, dns_label, dns_subdomain

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_ADMIN = "resource.kubernetes.io/admin-access"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"


def default_claim_spec(spec: dict[str, Any]) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        if (exactly := request.get("exactly")) is not None:
            _default_request(exactly)
        for alternative in request.get("firstAvailable") or ():
            _default_request(alternative)


def _default_request(request: dict[str, Any]) -> None:
    request["allocationMode"] = request.get("allocationMode") or "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    for toleration in request.get("tolerations") or ():
        toleration["operator"] = toleration.get("operator") or "Equal"


def validate_claim_spec(spec: dict[str, Any], path: str) -> list[FieldError]:
    devices, at = spec.get("devices") or {}, f"{path}.devices"
    requests = devices.get("requests") or []
    known = Requests.of(requests)
    errors = _REQUESTS(requests, f"{at}.requests")
    for position, constraint in enumerate(devices.get("constraints") or ()):
        errors += _constraint(constraint, known, f"{at}.constraints[{position}]")
    for position, config in enumerate(devices.get("config") or ()):
        here = f"{at}.config[{position}]"
        errors += known.check_all(config.get("requests") or [], f"{here}.requests")
        errors += validate_config(config, here)
    return errors


def _request(request: dict[str, Any], path: str) -> list[FieldError]:
    errors = check(dns_label, f"{path}.name", request.get("name") or "")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not alternatives:
        return [*errors, required(path, _ONE_OF)]
    if exactly is not None and alternatives:
        return [*errors, invalid(path, None, f"{_ONE_OF}, but multiple fields are set")]
    if exactly is not None:
        return errors + _exact(exactly, f"{path}.exactly")
    return errors + _ALTERNATIVES(alternatives, f"{path}.firstAvailable")


def _alternative(request: dict[str, Any], path: str) -> list[FieldError]:
    return check(dns_label, f"{path}.name", request.get("name") or "") + _exact(request, path)


def _exact(request: dict[str, Any], path: str) -> list[FieldError]:
    errors = _EXACT(request, path)
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    at = f"{path}.count"
    if mode == "All":
        if count:
            detail = "must not be specified when allocationMode is 'All'"
            errors.append(invalid(at, count, detail))
    elif mode == "ExactCount":
        if count <= 0:
            errors.append(invalid(at, count, "must be greater than zero"))
    else:
        errors.append(not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount")))
    return errors + validate_tolerations(request.get("tolerations"), f"{path}.tolerations")


_EXACT = struct(deviceClassName=needed_text(dns_subdomain), selectors=validate_selectors)
_ALTERNATIVES = all_of(every(_alternative, 8), distinct("name"))
_REQUESTS = all_of(every(_request, 32), distinct("name", 32))


def _constraint(constraint: dict[str, Any], known: Requests, path: str) -> list[FieldError]:
    errors = known.check_all(constraint.get("requests") or [], f"{path}.requests")
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            return errors + validate_fully_qualified(constraint[name], f"{path}.{name}")
    return [*errors, required(f"{path}.matchAttribute")]


def _administration(spec: dict[str, Any], about: Circumstances, path: str) -> list[FieldError]:
    """Devices are administered only from namespaces that are labelled for it."""
    wanted = [
        position
        for position, request in enumerate((spec.get("devices") or {}).get("requests") or ())
        if (request.get("exactly") or {}).get("adminAccess")
    ]
    if not wanted:
        return []
    space = about.read("", "namespaces", "", about.namespace) if about.read is not None else None
    labels = ((space or {}).get("metadata") or {}).get("labels") or {}
    if labels.get(_ADMIN) == "true":
        return []
    detail = (
        f"admin access to devices requires the `{_ADMIN}: true` label on the containing namespace"
    )
    return [forbidden(f"{path}.devices.requests[{at}].adminAccess", detail) for at in wanted]


class ResourceClaims(Native):
    def default(self, new: Object) -> None:
        default_claim_spec(new.setdefault("spec", {}))

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        errors = _administration(new.get("spec") or {}, about, "spec")
        return errors + super().validate_create(new, about)

    def check(self, new: Object) -> list[FieldError]:
        return validate_claim_spec(new.get("spec") or {}, "spec")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        shape = "resource.ResourceClaimSpec"
        return immutable("spec", new.get("spec"), old.get("spec"), shape)

    def check_status(self, new: Object, old: Object) -> list[FieldError]:
        return validate_claim_status(new, old)


class ResourceClaimTemplates(Native):
    def default(self, new: Object) -> None:
        default_claim_spec(new.setdefault("spec", {}).setdefault("spec", {}))

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        inner = (new.get("spec") or {}).get("spec") or {}
        errors = _administration(inner, about, "spec.spec")
        return errors + super().validate_create(new, about)

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        metadata, at = spec.get("metadata") or {}, "spec.metadata"
        errors = validate_annotations(metadata.get("annotations") or {}, f"{at}.annotations")
        errors += validate_labels(metadata.get("labels") or {}, f"{at}.labels")
        return errors + validate_claim_spec(spec.get("spec") or {}, "spec.spec")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        shape = "resource.ResourceClaimTemplateSpec"
        return immutable("spec", new.get("spec"), old.get("spec"), shape)


def _extended(name: str | None, path: str) -> list[FieldError]:
    if name is None or is_extended(name):
        return []
    return [invalid(path, name, "must be a valid extended resource name")]


class DeviceClasses(Native):
    rules = struct(
        spec=struct(
            selectors=validate_selectors, config=validate_configs, extendedResourceName=_extended
        )
    )
