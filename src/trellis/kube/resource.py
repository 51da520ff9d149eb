# SPDX-License-Identifier: Apache-2.0
"""Where the objects of a kind live on a server, and nothing about what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from trellis.kube.errors import BadName

if TYPE_CHECKING:
    from trellis.api.meta import Resource


def path(resource: Resource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Of one object if named, else of all in the namespace, or of all there are."""
    if namespace and not resource.namespaced:
        raise BadName(f"{resource.plural} have no namespace, but {namespace!r} was given")
    if name and resource.namespaced and not namespace:
        raise BadName(f"{resource.plural} {name!r}: a namespace is needed")
    root = f"/apis/{resource.group}" if resource.group else "/api"
    within = f"/namespaces/{_segment(namespace)}" if namespace else ""
    one = f"/{_segment(name)}" if name else ""
    part = f"/{_segment(subresource)}" if subresource else ""
    return f"{root}/{resource.version}{within}/{resource.plural}{one}{part}"


def _segment(name: str) -> str:
    # The server's own rule for path segments; anything else could reach another object's path.
    if name in {".", ".."} or "/" in name or "%" in name:
        raise BadName(f"{name!r} is no name: it may not be '.', '..' or hold '/' or '%'")
    return quote(name, safe=":")
