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
    not_supported,
    required,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.pod.environment import validate_env, validate_env_from
from trellis.embedded.natives.pod.probes import (
    validate_lifecycle,
    validate_probe,
)
from trellis.embedded.natives.pod.volumes import local_path
from trellis.embedded.natives.quantities import (
    check_amount,
    check_container_name,
    is_huge_page,
    overcommits,
)
from trellis.embedded.natives.syntax import check, dns_label, in_range, port_name, port_number

if TYPE_CHECKING:
    from collections.abc import Callable

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULLS = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("File", "FallbackToLogsOnError")
_RESTARTS = ("Always", "Never", "OnFailure")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PLAIN_INIT = "may not be set for init containers without restartPolicy=Always"
_EPHEMERAL = "cannot be set for an Ephemeral Container"
_NOT_EPHEMERAL = ("ports", "resources", "lifecycle", "resizePolicy", *_PROBES)
_MAX_ID = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of its pod a container is checked against."""

    volumes: dict[str, dict[str, Any]]
    claims: frozenset[str]
    grace: int | None
    os: str
    restart: str
    host_users: bool


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
        for field in ("lifecycle", *_PROBES):
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
    name = container.get("name") or ""
    errors = check(dns_label, f"{path}.name", name) if name else [required(f"{path}.name")]
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    errors += _one_of(container, "terminationMessagePolicy", _MESSAGES, path)
    errors += _one_of(container, "imagePullPolicy", _PULLS, path)
    for field, validated in _PARTS.items():
        if part := container.get(field):
            errors += validated(part, container, around, f"{path}.{field}")
    return errors


def _one_of(
    container: dict[str, Any], field: str, allowed: tuple[str, ...], path: str
) -> list[FieldError]:
    value = container.get(field) or ""
    if value in allowed:
        return []
    at = f"{path}.{field}"
    return [not_supported(at, value, allowed)] if value else [required(at)]


def _long_running(container: dict[str, Any], around: Surroundings, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if lifecycle := container.get("lifecycle"):
        at = f"{path}.lifecycle"
        errors += validate_lifecycle(lifecycle, around.grace, around.os, at)
    for name in _PROBES:
        if (probe := container.get(name)) is not None:
            errors += validate_probe(probe, name, around.grace, f"{path}.{name}")
    return errors


def _restart(container: dict[str, Any], path: str) -> list[FieldError]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    if policy is None:
        detail = "must specify restartPolicy when restart rules are used"
        return [required(f"{path}.restartPolicy", detail)] if rules else []
    if policy not in _RESTARTS:
        return [not_supported(f"{path}.restartPolicy", policy, _RESTARTS)]
    return []


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
        number = port.get("containerPort") or 0
        if not number:
            errors.append(required(f"{at}.containerPort"))
        else:
            errors += [invalid(f"{at}.containerPort", number, p) for p in port_number(number)]
        if on_host := port.get("hostPort"):
            errors += [invalid(f"{at}.hostPort", on_host, p) for p in port_number(on_host)]
        errors += _one_of(port, "protocol", _PROTOCOLS, at)
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


def _mounts(
    mounts: list[dict[str, Any]], container: dict[str, Any], around: Surroundings, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    points: set[str] = set()
    devices = {each.get("name") for each in container.get("volumeDevices") or ()}
    for position, mount in enumerate(mounts):
        at = f"{path}[{position}]"
        name, point = mount.get("name") or "", mount.get("mountPath") or ""
        errors += [required(f"{at}.{n}") for n in ("name", "mountPath") if not mount.get(n)]
        if name not in around.volumes:
            errors.append(not_found(f"{at}.name", name))
        if point in points:
            errors.append(invalid(f"{at}.mountPath", point, "must be unique"))
        points.add(point)
        if name in devices:
            detail = "must not already exist in volumeDevices"
            errors.append(invalid(f"{at}.name", name, detail))
        if mount.get("subPath"):
            errors += local_path(mount["subPath"], f"{path}.subPath")
        if mount.get("subPathExpr"):
            errors += _sub_path_expression(mount, at, path)
    return errors


def _sub_path_expression(mount: dict[str, Any], at: str, path: str) -> list[FieldError]:
    expression = mount["subPathExpr"]
    errors: list[FieldError] = []
    if mount.get("subPath"):
        detail = "subPathExpr and subPath are mutually exclusive"
        errors.append(invalid(f"{at}.subPathExpr", expression, detail))
    return errors + local_path(expression, f"{path}.subPathExpr")


def _devices(
    devices: list[dict[str, Any]], container: dict[str, Any], around: Surroundings, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    mounted = {each.get("name") for each in container.get("volumeMounts") or ()}
    names: set[str] = set()
    for position, device in enumerate(devices):
        at, name = f"{path}[{position}]", device.get("name") or ""
        if not name:
            errors.append(required(f"{at}.name"))
        if name in names:
            errors.append(invalid(f"{at}.name", name, "must be unique"))
        names.add(name)
        volume = around.volumes.get(name)
        if volume is None:
            errors.append(not_found(f"{at}.name", name))
        elif not volume.keys() & {"persistentVolumeClaim", "ephemeral"}:
            detail = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                "for block mode"
            )
            errors.append(invalid(f"{at}.name", name, detail))
        if not device.get("devicePath"):
            errors.append(required(f"{at}.devicePath"))
        if name in mounted:
            errors.append(invalid(f"{at}.name", name, "must not already exist in volumeMounts"))
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


def _resize_policies(policies: list[dict[str, Any]], restart: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for position, policy in enumerate(policies):
        resource, action = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if resource in seen:
            errors.append(duplicate(f"{path}[{position}]", resource))
        seen.add(resource)
        if resource not in {"cpu", "memory"}:
            wrong = not_supported(path, resource, ("cpu", "memory"))
            errors.append(wrong if resource else required(path))
        if action not in {"NotRequired", "RestartContainer"}:
            wrong = not_supported(path, action, ("NotRequired", "RestartContainer"))
            errors.append(wrong if action else required(path))
        if restart == "Never" and action != "NotRequired":
            detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(invalid(path, action, detail))
    return errors


def _security(context: dict[str, Any], around: Surroundings, path: str) -> list[FieldError]:
    errors = validate_ids(context, ("runAsUser", "runAsGroup"), path)
    if (mount := context.get("procMount")) is not None:
        if mount not in {"Default", "Unmasked"}:
            errors.append(not_supported(f"{path}.procMount", mount, ("Default", "Unmasked")))
        elif mount == "Unmasked" and around.host_users:
            detail = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(f"{path}.procMount", mount, detail))
    if (profile := context.get("seccompProfile")) is not None:
        errors += validate_profile(profile, f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        errors += _escalation(context, path)
    return errors


def _escalation(context: dict[str, Any], path: str) -> list[FieldError]:
    head = "cannot set `allowPrivilegeEscalation` to false and "
    shown = printed("core.SecurityContext", context)
    errors = []
    if context.get("privileged"):
        errors.append(invalid(path, shown, f"{head}`privileged` to true"))
    if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
        errors.append(invalid(path, shown, f"{head}`capabilities.Add` CAP_SYS_ADMIN"))
    return errors


def validate_ids(context: dict[str, Any], names: tuple[str, ...], path: str) -> list[FieldError]:
    return [
        invalid(f"{path}.{name}", context[name], problem)
        for name in names
        if context.get(name) is not None
        for problem in in_range(context[name], 0, _MAX_ID)
    ]


def validate_profile(profile: dict[str, Any], path: str) -> list[FieldError]:
    kinds = ("Localhost", "RuntimeDefault", "Unconfined")
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    if kind not in kinds:
        return [not_supported(f"{path}.type", kind, kinds) if kind else required(f"{path}.type")]
    if kind == "Localhost" and not local:
        detail = "must be set when seccomp type is Localhost"
        return [required(f"{path}.localhostProfile", detail)]
    if kind != "Localhost" and local is not None:
        detail = "can only be set when seccomp type is Localhost"
        return [invalid(f"{path}.localhostProfile", local, detail)]
    return []


_PARTS: dict[str, Callable[[Any, dict[str, Any], Surroundings, str], list[FieldError]]] = {
    "ports": lambda part, _, __, path: _ports(part, path),
    "env": lambda part, _, __, path: validate_env(part, path),
    "envFrom": lambda part, _, __, path: validate_env_from(part, path),
    "volumeMounts": _mounts,
    "volumeDevices": _devices,
    "resources": lambda part, _, around, path: validate_resources(part, around.claims, path),
    "resizePolicy": lambda part, _, around, path: _resize_policies(part, around.restart, path),
    "securityContext": lambda part, _, around, path: _security(part, around, path),
}
"""The parts of a container that are checked if they are there, in the server's order."""
