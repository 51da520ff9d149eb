# SPDX-License-Identifier: Apache-2.0
"""What the server fills in for pods and for the templates of pods."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trellis.embedded.natives.pod.status import keep_in_step
from trellis.embedded.natives.quantities import (
    aggregated,
    is_huge_page,
    overcommits,
    rounded_to_milli,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object

_IMAGE = re.compile(
    r"(?:(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?[a-z0-9._/-]+"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_MODE = 0o644
_MODES = ("secret", "configMap", "downwardAPI", "projected")
_HOUR = 3600
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)


def default_pod(pod: Object) -> None:
    spec = pod.setdefault("spec", {})
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    if status := pod.get("status"):
        keep_in_step(status)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        _requests_from_limits(container)
        if spec.get("hostNetwork"):
            _ports_on_host(container)
    if spec.get("resources"):
        _pod_level(spec)
    spec.setdefault("enableServiceLinks", True)


def _ports_on_host(container: dict[str, Any]) -> None:
    for port in container.get("ports") or ():
        if not port.get("hostPort") and port.get("containerPort"):
            port["hostPort"] = port["containerPort"]


def default_template(template: dict[str, Any]) -> None:
    """A pod's template; what is filled in for pods alone is not here."""
    default_pod_spec(template.setdefault("spec", {}))


def default_pod_spec(spec: dict[str, Any]) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    spec.setdefault("schedulerName", "default-scheduler")
    # One account, two names; the deprecated one follows the other.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for name in _CONTAINERS:
        for container in spec.get(name) or ():
            _default_container(container)
    for volume in spec.get("volumes") or ():
        _default_volume(volume)
    if spec.get("overhead"):
        rounded_to_milli(spec["overhead"])


def _default_container(container: dict[str, Any]) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        _default_field(variable.get("valueFrom") or {})
    for probe in map(container.get, _PROBES):
        if probe:
            _default_probe(probe)
    if lifecycle := container.get("lifecycle"):
        _default_hooks(lifecycle)
    if resources := container.get("resources"):
        rounded_to_milli(resources.get("limits") or {})
        rounded_to_milli(resources.get("requests") or {})


def _default_hooks(lifecycle: dict[str, Any]) -> None:
    for name in ("postStart", "preStop"):
        _default_http((lifecycle.get(name) or {}).get("httpGet"))


@lru_cache(maxsize=1024)
def pull_policy(image: str) -> str:
    """Always where the image may change under its name: without a tag, or with the tag latest."""
    found = _IMAGE.fullmatch(image)
    if found is None:
        return "IfNotPresent"
    tag = found["tag"] or ("" if found["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _default_probe(probe: dict[str, Any]) -> None:
    for name, value in _PROBE:
        probe[name] = probe.get(name) or value
    _default_http(probe.get("httpGet"))
    if (grpc := probe.get("grpc")) is not None:
        grpc["service"] = grpc.get("service") or ""


def _default_http(action: dict[str, Any] | None) -> None:
    if action is not None:
        action["path"] = action.get("path") or "/"
        action["scheme"] = action.get("scheme") or "HTTP"


def _default_field(source: dict[str, Any]) -> None:
    if (field := source.get("fieldRef")) is not None:
        field["apiVersion"] = field.get("apiVersion") or "v1"


def _default_volume(volume: dict[str, Any]) -> None:
    if len(volume) == ("name" in volume):
        volume["emptyDir"] = {}
        return
    for name, source in volume.items():
        if isinstance(source, dict):
            if name in _MODES:
                source.setdefault("defaultMode", _MODE)
            if completed := _SOURCES.get(name):
                completed(source)


def _default_ephemeral(source: dict[str, Any]) -> None:
    if template := source.get("volumeClaimTemplate"):
        template.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _default_image(source: dict[str, Any]) -> None:
    source["pullPolicy"] = source.get("pullPolicy") or pull_policy(source.get("reference") or "")


def _default_downward(source: dict[str, Any]) -> None:
    for item in source.get("items") or ():
        _default_field(item)


def _default_projected(source: dict[str, Any]) -> None:
    for each in source.get("sources") or ():
        _default_projection(each)


def _default_projection(source: dict[str, Any]) -> None:
    _default_downward(source.get("downwardAPI") or {})
    if (token := source.get("serviceAccountToken")) is not None:
        token.setdefault("expirationSeconds", _HOUR)


def _fills(**usual: Any) -> Callable[[dict[str, Any]], None]:
    def fill(source: dict[str, Any]) -> None:
        for field, value in usual.items():
            source.setdefault(field, value)

    return fill


_SOURCES: dict[str, Callable[[dict[str, Any]], None]] = {
    "hostPath": _fills(type=""),
    "image": _default_image,
    "ephemeral": _default_ephemeral,
    "downwardAPI": _default_downward,
    "projected": _default_projected,
    "iscsi": _fills(iscsiInterface="default"),
    "rbd": _fills(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "azureDisk": _fills(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False),
    "scaleIO": _fills(storageMode="ThinProvisioned", fsType="xfs"),
}


def _requests_from_limits(container: dict[str, Any]) -> None:
    resources = container.get("resources")
    limits = resources.get("limits") if resources else None
    if resources and limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _pod_level(spec: dict[str, Any]) -> None:
    """Requests of the pod as a whole, from those of its containers and from its limits."""
    resources = spec["resources"]
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    if not limits and not requests:
        return
    pages = {n: amount for n, amount in aggregated(spec, "limits").items() if is_huge_page(n)}
    limits = {**{n: written(n, pages[n]) for n in pages if n not in requests}, **limits}
    if not limits:
        return
    resources["limits"] = limits
    asked = {
        name: written(name, amount)
        for name, amount in aggregated(spec, "requests").items()
        if _at_pod_level(name) and overcommits(name)
    }
    granted = {name: text for name, text in limits.items() if _at_pod_level(name)}
    if found := {**granted, **asked, **requests}:
        resources["requests"] = found


def _at_pod_level(name: str) -> bool:
    return name in {"cpu", "memory"} or is_huge_page(name)
