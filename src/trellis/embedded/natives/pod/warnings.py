# SPDX-License-Identifier: Apache-2.0
"""What the server warns of in a pod or a template of pods, though it takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.quantity import UNIT
from trellis.embedded.natives.quantities import parsed
from trellis.embedded.natives.syntax import dns_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_SELECTOR = "labelSelector: a null labelSelector results in matching no pod"
_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
}
_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def name_warnings(name: str, used: str) -> list[str]:
    """Names that become names of hosts should be ones."""
    if not (problems := dns_label(name)):
        return []
    return [
        f"metadata.name: this is used in {used}, which can result in surprising behavior; "
        f"a DNS label is recommended: [{' '.join(problems)}]"
    ]


def workload_warnings(new: Object, old: Object | None, path: str) -> list[str]:
    """Of what makes pods by a template at `path`: its name when it is new, changed templates."""
    named = name_warnings(new["metadata"]["name"], "Pod names and hostnames") if old is None else []
    template, before = _at(new, path), _at(old or {}, path)
    return named if template == before else named + pod_warnings(template, path)


def _at(holder: Object, path: str) -> Object:
    for name in path.split("."):
        holder = holder.get(name) or {}
    return holder


def pod_warnings(holder: Object, path: str = "") -> list[str]:
    """`holder` has metadata and spec: a pod, or a template at `path`."""
    at = f"{path}." if path else ""
    spec = holder.get("spec") or {}
    annotations = (holder.get("metadata") or {}).get("annotations") or {}
    found = [
        f"{at}metadata.annotations[{key}]: {said}"
        for key, said in _ANNOTATIONS.items()
        if key in annotations
    ]
    found += _placement(spec, f"{at}spec")
    for position, volume in enumerate(spec.get("volumes") or ()):
        here = f"{at}spec.volumes[{position}]"
        found += [f"{here}.{name}: {said}" for name, said in _VOLUMES.items() if name in volume]
    found += _repeated(spec, f"{at}spec")
    for name in _CONTAINERS:
        for position, container in enumerate(spec.get(name) or ()):
            found += _container(container, f"{at}spec.{name}[{position}]")
    return found + list(_ports(spec, f"{at}spec"))


def _placement(spec: dict[str, Any], path: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in _LABELS:
            yield f"{path}.nodeSelector[{key}]: {_LABELS[key]}"
    for position, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at = f"{path}.topologySpreadConstraints[{position}]"
        key = constraint.get("topologyKey")
        if key in _LABELS:
            yield f"{at}.topologyKey: {key} is {_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.{_NO_SELECTOR}"
    if affinity := spec.get("affinity"):
        yield from _affinities(affinity, f"{path}.affinity")


def _affinities(affinities: dict[str, Any], path: str) -> Iterator[str]:
    for name in ("podAffinity", "podAntiAffinity"):
        affinity = affinities.get(name) or {}
        for position, term in enumerate(affinity.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{name}.{_REQUIRED}[{position}].{_NO_SELECTOR}"
        for position, weighted in enumerate(affinity.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                at = f"{path}.{name}.{_PREFERRED}[{position}].podAffinityTerm"
                yield f"{at}.{_NO_SELECTOR}"


def _repeated(spec: dict[str, Any], path: str) -> Iterator[str]:
    for name, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        seen: set[str] = set()
        for position, item in enumerate(spec.get(name) or ()):
            value = item.get(key) or ""
            if value in seen:
                yield f'{path}.{name}[{position}].{key}: duplicate {key} "{value}"'
            seen.add(value)


def _container(container: dict[str, Any], path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for which in ("limits", "requests"):
        for name in ("memory", "ephemeral-storage"):
            amount = (resources.get(which) or {}).get(name)
            if amount is not None and parsed(amount) % UNIT:
                said = f'fractional byte value "{amount}" is invalid, must be an integer'
                yield f"{path}.resources.{which}[{name}]: {said}"
    seen: set[str] = set()
    for position, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name") or "", variable.get("value") or ""
        own = f"$({name})"
        if name in seen and (variable.get("valueFrom") or value == own or own not in value):
            said = f'hides previous definition of "{name}", which may be dropped when using apply'
            yield f"{path}.env[{position}]: {said}"
        seen.add(name)


def _ports(spec: dict[str, Any], path: str) -> Iterator[str]:
    taken: dict[tuple[Any, Any], list[tuple[str, dict[str, Any]]]] = {}
    names: dict[str, str] = {}
    for group in _CONTAINERS:
        for position, container in enumerate(spec.get(group) or ()):
            for index, port in enumerate(container.get("ports") or ()):
                at = f"{path}.{group}[{position}].ports[{index}]"
                others = taken.setdefault((port.get("containerPort"), port.get("protocol")), [])
                for where, other in others:
                    if said := _overlap(port, other):
                        yield f"{at}: {said} port definition with {where}"
                others.append((at, port))
                yield from _named_before(port.get("name"), names, at)


def _overlap(port: dict[str, Any], other: dict[str, Any]) -> str:
    mine, theirs = port.get("hostPort") or 0, other.get("hostPort") or 0
    same_host = (port.get("hostIP") or "") == (other.get("hostIP") or "")
    if same_host and mine == theirs:
        return "duplicate"
    if not mine or not theirs:
        return "overlapping"
    one_open = not (port.get("hostIP") and other.get("hostIP"))
    return "dangerously ambiguous" if mine == theirs and one_open else ""


def _named_before(name: str | None, names: dict[str, str], at: str) -> Iterator[str]:
    if not name:
        return
    if first := names.get(name):
        said = f"services and probes that select ports by name will use {first}"
        yield f'{at}: duplicate port name "{name}" with {first}, {said}'
    else:
        names[name] = at
