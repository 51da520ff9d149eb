# SPDX-License-Identifier: Apache-2.0
"""What a pod spec may say and may as well leave out: the API server makes the same pod of both.

Only what the server fills in itself is here. Where it keeps false, "" or {} apart from nothing, as
it does with every pointer, they are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class _Part:
    """A field of a pod spec: the values that say nothing, and what is inside of it.

    `filled` gives one more such value where it depends on what is beside the field.
    """

    usual: tuple[Any, ...] = ()
    inside: Mapping[str, _Part] = field(default_factory=dict)
    filled: Callable[[Mapping[str, Any]], Any] | None = None


def _parts(**usual: Any) -> dict[str, _Part]:
    return {name: _Part((value,)) for name, value in usual.items()}


def _pull_policy(container: Mapping[str, Any]) -> str | None:
    """As the server fills it in: the tag counts, also beside a digest, which needs none.

    A colon before a slash is that of a port. What is no name of an image cannot be run at all.
    """
    image = container.get("image")
    if not isinstance(image, str):
        return None
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


_UNKNOWN = _Part()
_FIELD = {"fieldRef": _Part(inside=_parts(apiVersion="v1"))}
_HTTP = {"httpGet": _Part(inside=_parts(path="/", scheme="HTTP"))}
_FILES = _Part(inside=_parts(defaultMode=0o644))
_READ_ONLY = _Part(inside=_parts(readOnly=False))
_PROBE = _Part(
    inside=_HTTP
    | {
        "grpc": _Part(inside=_parts(service="")),
        "initialDelaySeconds": _Part((0,)),
        # The server takes zero for its default, too.
        "timeoutSeconds": _Part((0, 1)),
        "periodSeconds": _Part((0, 10)),
        "successThreshold": _Part((0, 1)),
        "failureThreshold": _Part((0, 3)),
    }
)
_RESOURCES = _Part(({},), _parts(requests={}, limits={}))
_HOOKS = _Part(inside={name: _Part(inside=_HTTP) for name in ("postStart", "preStop")})
_CONTAINER = _Part(
    inside=_parts(
        stdin=False,
        stdinOnce=False,
        tty=False,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    | {
        "env": _Part(inside=_parts(value="") | {"valueFrom": _Part(inside=_FIELD)}),
        "imagePullPolicy": _Part(filled=_pull_policy),
        "lifecycle": _HOOKS,
        "livenessProbe": _PROBE,
        "ports": _Part(inside=_parts(hostPort=0, protocol="TCP")),
        "readinessProbe": _PROBE,
        "resources": _RESOURCES,
        "startupProbe": _PROBE,
        "volumeMounts": _READ_ONLY,
    }
)
_DOWNWARD = {"items": _Part(inside=_FIELD)}
_PROJECTION = {
    "downwardAPI": _Part(inside=_DOWNWARD),
    "serviceAccountToken": _Part(inside=_parts(expirationSeconds=3600)),
}
_VOLUME = _Part(
    inside={
        "configMap": _FILES,
        "downwardAPI": _Part(inside={**_FILES.inside, **_DOWNWARD}),
        "hostPath": _Part(inside=_parts(type="")),
        "nfs": _READ_ONLY,
        "persistentVolumeClaim": _READ_ONLY,
        "projected": _Part(inside={**_FILES.inside, "sources": _Part(inside=_PROJECTION)}),
        "secret": _FILES,
    }
)
_POD = _parts(
    dnsPolicy="ClusterFirst",
    enableServiceLinks=True,
    hostIPC=False,
    hostNetwork=False,
    hostPID=False,
    nodeSelector={},
    # That of the PriorityClass; where it is another one, a pod that says this is refused.
    preemptionPolicy="PreemptLowerPriority",
    restartPolicy="Always",
    # Which scheduler none stands for is the operator's to say, and never changes for a set.
    schedulerName="default-scheduler",
    securityContext={},
    serviceAccountName="default",
    terminationGracePeriodSeconds=30,
) | {
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    "volumes": _VOLUME,
}


def without_usual(pod_spec: Any) -> Any:
    """A decoded pod spec without what says nothing. The tree itself is not changed."""
    return _told(pod_spec, _POD)


def _told(value: Any, parts: Mapping[str, _Part]) -> Any:
    if isinstance(value, list):
        return [_told(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    told = {}
    for name, inner in value.items():
        part = parts.get(name, _UNKNOWN)
        found = _told(inner, part.inside)
        filled = part.filled(value) if part.filled else None
        if not _says_nothing(found, (*part.usual, filled)):
            told[name] = found
    return told


def _says_nothing(value: Any, usual: tuple[Any, ...]) -> bool:
    """Lists are alike wherever they are: servers store pods in a form that has no empty ones."""
    return value is None or value == [] or value in usual
