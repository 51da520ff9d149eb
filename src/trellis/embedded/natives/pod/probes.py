# SPDX-License-Identifier: Apache-2.0
"""Probes of containers and the hooks of their lives."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import FieldError, forbidden, invalid
from trellis.embedded.natives.rules import (
    all_of,
    anything,
    at_least,
    choice,
    needed,
    struct,
    variant,
)
from trellis.embedded.natives.syntax import http_header, port_name, port_number


def validate_port(port: int | str, path: str) -> list[FieldError]:
    """A number, or the name of a port."""
    problems = port_name(port) if isinstance(port, str) else port_number(port)
    return [invalid(path, port, problem) for problem in problems]


def _port(port: int | str | None, path: str) -> list[FieldError]:
    return validate_port(0 if port is None else port, path)


def _headers(headers: list[dict[str, Any]] | None, path: str) -> list[FieldError]:
    names = [header.get("name") or "" for header in headers or ()]
    return [invalid(path, name, each) for name in names for each in http_header(name)]


def _once(count: int | None, path: str) -> list[FieldError]:
    return [] if count == 1 else [invalid(path, count or 0, "must be 1")]


def _no_grace(seconds: int | None, path: str) -> list[FieldError]:
    detail = "must not be set for readinessProbes"
    return [] if seconds is None else [invalid(path, seconds, detail)]


_ACTIONS = {
    "exec": struct(command=needed()),
    "httpGet": struct(
        path=needed(), port=_port, scheme=choice("HTTP", "HTTPS"), httpHeaders=_headers
    ),
    "tcpSocket": struct(port=_port),
}
_NONE, _MORE = "must specify a handler type", "may not specify more than 1 handler type"
_PROBE = all_of(
    variant({**_ACTIONS, "grpc": struct(port=_port)}, none=_NONE, several=_MORE),
    struct(
        initialDelaySeconds=at_least(0),
        timeoutSeconds=at_least(0),
        periodSeconds=at_least(0),
        successThreshold=at_least(0),
        failureThreshold=at_least(0),
        terminationGracePeriodSeconds=at_least(1, "must be greater than 0"),
    ),
)
_HOOK = variant({**_ACTIONS, "sleep": anything}, none=_NONE, several=_MORE)
PROBES = {
    "livenessProbe": all_of(_PROBE, struct(successThreshold=_once)),
    "readinessProbe": all_of(_PROBE, struct(terminationGracePeriodSeconds=_no_grace)),
    "startupProbe": all_of(_PROBE, struct(successThreshold=_once)),
}


def validate_lifecycle(lifecycle: dict[str, Any], os: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("postStart", "preStop"):
        if (hook := lifecycle.get(name)) is not None:
            errors += _HOOK(hook, f"{path}.{name}")
    if lifecycle.get("stopSignal") is not None and not os:
        detail = "may not be set for containers with empty `spec.os.name`"
        errors.append(forbidden(f"{path}.stopSignal", detail))
    return errors
