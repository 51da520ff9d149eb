# SPDX-License-Identifier: Apache-2.0
"""What a path asks for, by its shape alone: authorisation comes before anybody looks it up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from trellis.embedded.exchange import Ask

# Of a namespace itself; whatever else follows its name lies inside it.
_OF_NAMESPACES = frozenset({"status", "finalize"})
_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}
_FALSE = frozenset({"0", "false", "False", "FALSE", "F", "f"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A resource that a path names. `rest` is what follows a subresource, as in a proxied path."""

    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    watched: bool = False
    """Through the old paths with `/watch/` in them."""


def segments(path: str) -> list[str]:
    """The parts of a path, decoded; a slash at its end changes nothing."""
    parts = unquote(path).split("/")[1:]
    return parts[:-1] if parts and parts[-1] == "" else parts


def target(parts: list[str]) -> Target | None:
    """None for paths that name no resource: discovery, health, the version."""
    if parts[:1] == ["api"] and len(parts) > 2:
        return _target("", parts[1], parts[2:])
    if parts[:1] == ["apis"] and len(parts) > 3:
        return _target(parts[1], parts[2], parts[3:])
    return None


def _target(group: str, version: str, parts: list[str]) -> Target | None:
    watched = parts[0] == "watch" and len(parts) > 1
    if watched:
        parts = parts[1:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _OF_NAMESPACES:
            parts = parts[2:]
    padded = [*parts, "", ""]
    return Target(
        group=group,
        version=version,
        resource=padded[0],
        namespace=namespace,
        name=padded[1],
        subresource=padded[2],
        rest=tuple(parts[3:]),
        watched=watched,
    )


def verb(ask: Ask, wanted: Target) -> str:
    """Kubernetes' word for what is done, as roles and webhooks have it."""
    if wanted.watched:
        return "watch"
    if ask.method == "DELETE":
        return "delete" if wanted.name else "deletecollection"
    if ask.method in {"GET", "HEAD"} and not wanted.name:
        return "watch" if watches(ask) else "list"
    return _VERBS.get(ask.method, ask.method.lower())


def watches(ask: Ask) -> bool:
    """Any word but a false one counts as true, and so does none at all."""
    said = [value for name, value in ask.query if name == "watch"]
    return bool(said) and said[0] not in _FALSE
