# SPDX-License-Identifier: Apache-2.0
"""The containers of a pod: names, ports, mounts, probes, resources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trellis.api import quantity
from trellis.embedded.fielderrors import (
    NOT_FOUND,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.pod.environment import validate_env, validate_env_from
from trellis.embedded.natives.pod.probes import PROBES, validate_lifecycle
from trellis.embedded.natives.pod.volumes import local_path
from trellis.embedded.natives.quantities import (
    check_amount,
    check_container_name,
    is_huge_page,
    overcommits,
)
from trellis.embedded.natives.rules import (
    between,
    needed,
    needed_choice,
    needed_text,
    one_of,
    struct,
)
from trellis.embedded.natives.syntax import check, dns_label, port_name

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN_INIT = "may not be set for init containers without restartPolicy=Always"
_EPHEMERAL = "cannot be set for an Ephemeral Container"
_NOT_EPHEMERAL = ("ports", "resources", "lifecycle", "resizePolicy", *PROBES)


_CONTAINER = struct(
    name=needed_text(dns_label),
    image=needed(),
    terminationMessagePolicy=needed_choice("File", "FallbackToLogsOnError"),
    imagePullPolicy=needed_choice("Always", "IfNotPresent", "Never"),
)
PROFILE = struct(type=needed_choice("Localhost", "RuntimeDefault", "Unconfined"))
_RESTARTS = one_of("Always", "Never", "OnFailure")
_NUMBER = between(1, 65535)
_PORT = struct(
    containerPort=lambda value, path: _NUMBER(value, path) if value else [required(path)],
    hostPort=lambda value, path: _NUMBER(value or None, path),
    protocol=needed_choice("SCTP", "TCP", "UDP"),
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of its pod a container is checked against."""

    volumes: dict[str, dict[str, Any]]
    claims: frozenset[str]
    os: str


def validate_containers(
    containers: list[dict[str, Any]], around: Surroundings, path: str
) -> list[FieldError]:
    if not containers:
        return [required(path)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for position, container in enumerate(containers):
        at = f"{path}[{position}]"
        errors += _common(container, around, at)
        name = container.get("name") or ""
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        errors += _long_running(container, around, at)
        errors += _restart(container, at)
    return errors + _host_ports(containers, path)


def validate_init_containers(
    containers: list[dict[str, Any]], names: set[str], around: Surroundings, path: str
) -> list[FieldError]:
    """`names` are those of the regular containers; those of these are added."""
    errors: list[FieldError] = []
    for position, container in enumerate(containers):
        at = f"{path}[{position}]"
        errors += _common(container, around, at)
        errors += _restart(container, at)
        name = container.get("name") or ""
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        elif name:
            names.add(name)
        errors += _host_ports([container], path)
        if container.get("restartPolicy") == "Always":
            errors += _long_running(container, around, at)
            continue
        for field in ("lifecycle", *PROBES):
            if container.get(field) is not None:
                errors.append(forbidden(f"{at}.{field}", _PLAIN_INIT))
    return errors


def validate_ephemeral_containers(
    containers: list[dict[str, Any]], names: set[str], around: Surroundings, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    others = frozenset(names)
    for position, container in enumerate(containers):
        at = f"{path}[{position}]"
        errors += _common(container, around, at)
        errors += validate_image(container, at)
        name, target = container.get("name") or "", container.get("targetContainerName")
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        if target and target not in others:
            errors.append(not_found(f"{at}.targetContainerName", target))
        errors += [
            forbidden(f"{at}.{each}", _EPHEMERAL) for each in _NOT_EPHEMERAL if container.get(each)
        ]
        for index, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    errors.append(forbidden(f"{at}.volumeMounts[{index}].{field}", _EPHEMERAL))
    return errors


def validate_image(container: dict[str, Any], path: str) -> list[FieldError]:
    image = container.get("image") or ""
    if image == image.strip():
        return []
    return [invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _common(container: dict[str, Any], around: Surroundings, path: str) -> list[FieldError]:
    errors = _CONTAINER(container, path)
    for field, validated in _PARTS.items():
        if part := container.get(field):
            errors += validated(part, around, f"{path}.{field}")
    return errors


def _long_running(container: dict[str, Any], around: Surroundings, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if lifecycle := container.get("lifecycle"):
        errors += validate_lifecycle(lifecycle, around.os, f"{path}.lifecycle")
    for name, validated in PROBES.items():
        if (probe := container.get(name)) is not None:
            errors += validated(probe, f"{path}.{name}")
    return errors


def _restart(container: dict[str, Any], path: str) -> list[FieldError]:
    policy, at = container.get("restartPolicy"), f"{path}.restartPolicy"
    if policy is None and container.get("restartPolicyRules"):
        return [required(at, "must specify restartPolicy when restart rules are used")]
    return _RESTARTS(policy, at)


def _ports(ports: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for position, port in enumerate(ports):
        at = f"{path}[{position}]"
        if name := port.get("name"):
            if problems := check(port_name, f"{at}.name", name):
                errors += problems
            elif name in names:
                errors.append(duplicate(f"{at}.name", name))
            names.add(name)
        errors += _PORT(port, at)
    return errors


def _host_ports(containers: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    taken: set[str] = set()
    for position, container in enumerate(containers):
        for index, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP') or ''}/{port['hostPort']}"
            if key in taken:
                errors.append(duplicate(f"{path}[{position}].ports[{index}].hostPort", key))
            taken.add(key)
    return errors


def _mounts(mounts: list[dict[str, Any]], around: Surroundings, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    points: set[str] = set()
    for position, mount in enumerate(mounts):
        at = f"{path}[{position}]"
        name, point = mount.get("name") or "", mount.get("mountPath") or ""
        errors += [required(f"{at}.{n}") for n in ("name", "mountPath") if not mount.get(n)]
        if name not in around.volumes:
            errors.append(not_found(f"{at}.name", name))
        if point in points:
            errors.append(invalid(f"{at}.mountPath", point, "must be unique"))
        points.add(point)
        if mount.get("subPath"):
            errors += local_path(mount["subPath"], f"{path}.subPath")
    return errors


def validate_resources(
    resources: dict[str, Any], claims: frozenset[str], path: str
) -> list[FieldError]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: list[FieldError] = []
    for name, text in limits.items():
        if not _is_plain(name, text, text):
            errors += _amount(name, text, f"{path}.limits[{name}]")
    for name, text in requests.items():
        if not _is_plain(name, text, limits.get(name, text)):
            errors += _amount(name, text, f"{path}.requests[{name}]")
            errors += request_within(name, text, limits.get(name), path)
    named = limits.keys() | requests.keys()
    if any(map(is_huge_page, named)) and not named & {"cpu", "memory"}:
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    if used := resources.get("claims"):
        errors += _claims(used, claims, f"{path}.claims")
    return errors


@lru_cache(maxsize=4096)
def _is_plain(name: str, text: str, limit: str) -> bool:
    """An amount of what everybody asks for, as most amounts are: nothing is to be said of it."""
    if name not in {"cpu", "memory", "ephemeral-storage"}:
        return False
    return 0 <= quantity.parse(text) <= quantity.parse(limit)


def _amount(name: str, text: Any, path: str) -> list[FieldError]:
    errors = check_container_name(name, path) + check_amount(name, text, path)
    return errors + _huge_page(name, text, path)


def request_within(name: str, text: Any, limit: Any, path: str) -> list[FieldError]:
    """A request is at most its limit, and exactly that where nothing is overcommitted."""
    if limit is None:
        if overcommits(name):
            return []
        detail = "Limit must be set for non overcommitable resources"
        return [required(f"{path}.limits", detail)]
    wanted, most = quantity.parse(text), quantity.parse(limit)
    if wanted != most and not overcommits(name):
        detail = f"must be equal to {name} limit of {limit}"
        return [invalid(f"{path}.requests", text, detail)]
    if wanted > most:
        detail = f"must be less than or equal to {name} limit of {limit}"
        return [invalid(f"{path}.requests", text, detail)]
    return []


def _huge_page(name: str, text: Any, path: str) -> list[FieldError]:
    if not is_huge_page(name):
        return []
    size = quantity.parse(name.removeprefix("hugepages-"))
    if quantity.parse(text) % size == 0:
        return []
    return [invalid(path, text, f"{text} is not positive integer multiple of {name}")]


def _claims(claims: list[dict[str, Any]], known: frozenset[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for position, claim in enumerate(claims):
        at, name = f"{path}[{position}]", claim.get("name") or ""
        if not name:
            errors.append(required(at))
            continue
        errors += _claim_once(name, claim.get("request") or "", seen, at)
        if name not in known:
            listed = f": {', '.join(sorted(known))}" if known else " which is empty"
            detail = f"must be one of the names in pod.spec.resourceClaims{listed}"
            errors.append(FieldError(NOT_FOUND, at, name, detail))
    return errors


def _claim_once(name: str, request: str, seen: set[str], path: str) -> list[FieldError]:
    if name in seen:
        return [duplicate(path, name)]
    errors = check(dns_label, f"{path}.request", request) if request else []
    key = f"{name}/{request}" if request else name
    if key in seen:
        errors.append(duplicate(path, key))
    elif not request:
        errors += [duplicate(path, name) for each in seen if each.startswith(f"{name}/")]
    seen.add(key)
    return errors


_CONTEXT = struct(procMount=one_of("Default", "Unmasked"), seccompProfile=PROFILE)


def _security(context: dict[str, Any], path: str) -> list[FieldError]:
    errors = validate_ids(context, ("runAsUser", "runAsGroup"), path)
    errors += _CONTEXT(context, path)
    if context.get("allowPrivilegeEscalation") is False and context.get("privileged"):
        detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        errors.append(invalid(path, printed("core.SecurityContext", context), detail))
    return errors


_ID = between(0, (1 << 31) - 1)


def validate_ids(context: dict[str, Any], names: tuple[str, ...], path: str) -> list[FieldError]:
    return [error for name in names for error in _ID(context.get(name), f"{path}.{name}")]


_PARTS: dict[str, Callable[[Any, Surroundings, str], list[FieldError]]] = {
    "ports": lambda part, _, path: _ports(part, path),
    "env": lambda part, _, path: validate_env(part, path),
    "envFrom": lambda part, _, path: validate_env_from(part, path),
    "volumeMounts": _mounts,
    "resources": lambda part, around, path: validate_resources(part, around.claims, path),
    "securityContext": lambda part, _, path: _security(part, path),
}
"""The parts of a container that are checked if they are there, in the server's order."""
