# SPDX-License-Identifier: Apache-2.0
"""Probes of containers and the hooks of their lives."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import FieldError, forbidden, invalid, not_supported, required
from trellis.embedded.natives.metadata import NEGATIVE
from trellis.embedded.natives.syntax import http_header, port_name, port_number

_NUMBERS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")


def validate_probe(
    probe: dict[str, Any], kind: str, grace: int | None, path: str
) -> list[FieldError]:
    errors = _handler(probe, _OF_PROBES, grace, path)
    for name in _NUMBERS:
        if (probe.get(name) or 0) < 0:
            errors.append(invalid(f"{path}.{name}", probe[name], NEGATIVE))
    own = probe.get("terminationGracePeriodSeconds")
    if own is not None and own <= 0:
        at = f"{path}.terminationGracePeriodSeconds"
        errors.append(invalid(at, own, "must be greater than 0"))
    if kind == "readinessProbe":
        if own is not None:
            detail = "must not be set for readinessProbes"
            errors.append(invalid(f"{path}.terminationGracePeriodSeconds", own, detail))
    elif probe.get("successThreshold") != 1:
        value = probe.get("successThreshold") or 0
        errors.append(invalid(f"{path}.successThreshold", value, "must be 1"))
    return errors


def validate_lifecycle(
    lifecycle: dict[str, Any], grace: int | None, os: str, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("postStart", "preStop"):
        if (hook := lifecycle.get(name)) is not None:
            errors += _handler(hook, _OF_HOOKS, grace, f"{path}.{name}")
    if lifecycle.get("stopSignal") is not None and not os:
        detail = "may not be set for containers with empty `spec.os.name`"
        errors.append(forbidden(f"{path}.stopSignal", detail))
    return errors


def _handler(
    held: dict[str, Any], kinds: tuple[str, ...], grace: int | None, path: str
) -> list[FieldError]:
    present = [kind for kind in kinds if held.get(kind) is not None]
    if not present:
        return [required(path, "must specify a handler type")]
    first = present[0]
    errors = _action(first, held[first], grace, f"{path}.{first}")
    detail = "may not specify more than 1 handler type"
    return errors + [forbidden(f"{path}.{extra}", detail) for extra in present[1:]]


def _action(kind: str, action: dict[str, Any], grace: int | None, path: str) -> list[FieldError]:
    if kind == "exec":
        return [] if action.get("command") else [required(f"{path}.command")]
    if kind == "httpGet":
        return _http(action, path)
    if kind == "sleep":
        seconds = action.get("seconds") or 0
        if grace is None or 0 <= seconds <= grace:
            return []
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        return [invalid(path, seconds, detail)]
    return validate_port(action.get("port", 0), f"{path}.port")


def _http(action: dict[str, Any], path: str) -> list[FieldError]:
    errors = [] if action.get("path") else [required(f"{path}.path")]
    errors += validate_port(action.get("port", 0), f"{path}.port")
    scheme = action.get("scheme") or ""
    if scheme not in {"HTTP", "HTTPS"}:
        errors.append(not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        errors += [invalid(f"{path}.httpHeaders", name, each) for each in http_header(name)]
    return errors


def validate_port(port: int | str, path: str) -> list[FieldError]:
    """A number, or the name of a port."""
    problems = port_name(port) if isinstance(port, str) else port_number(port)
    return [invalid(path, port, problem) for problem in problems]
