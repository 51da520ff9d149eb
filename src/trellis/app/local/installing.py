# SPDX-License-Identifier: Apache-2.0
"""Puts what we ship into a cluster of this machine: all but what would run the operator there.

Its rights are exactly those of an installation, because they are made from the same declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app import wiring
from trellis.app.manifests import bundle
from trellis.app.manifests.admission import webhook_configurations
from trellis.kube.discovery import discover
from trellis.kube.verbs import apply_patch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.config.types import OperatorConfiguration
    from trellis.api.meta import Resource
    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation
    from trellis.kube.client import Client

NAMESPACE = "namespace"
WEBHOOKS = "webhooks"
# What `deploy/kustomize/components` calls it.
_AUTHORIZER = "authorizer"
# The operator is a process beside the cluster here, and has no pods, no service and no file there.
_PARTS = (NAMESPACE, "rbac", "user-roles", "flow-control", "policies", WEBHOOKS)


class NotServed(Exception):
    """The cluster does not know a kind that we ship objects of."""


def shipped(installation: Installation, configuration: OperatorConfiguration) -> list[Manifest]:
    """In the order to apply them: the definitions before what names their kinds.

    With the webhooks that are optional, where the configuration asks for what they hold.
    """
    components = [part.component for part in wiring.parts()]
    found = bundle.parts(components, installation)
    rest = [manifest for part in _PARTS[1:] for manifest in found[part]]
    asked = {_AUTHORIZER} if configuration.authorizer.enabled else set()
    webhooks = [one for component in components for one in component.webhooks]
    chosen = webhook_configurations(
        [one for one in webhooks if one.optional in asked], installation
    )
    return [*found[NAMESPACE], *(definition(served) for served in KINDS), *rest, *chosen]


def called_at(manifest: Manifest, port: int) -> Manifest:
    """The same, but webhooks are called on loopback, where a real API server finds no services."""
    if "webhooks" not in manifest:
        return manifest
    return manifest | {"webhooks": [_at(port, webhook) for webhook in manifest["webhooks"]]}


async def install(client: Client, manifests: Iterable[Manifest]) -> None:
    """Applies them. What is there already is brought in line."""
    served = await discover(client)
    kinds = {(one.api_version, one.kind): one for one in served.resources}
    for manifest in manifests:
        key = (manifest["apiVersion"], manifest["kind"])
        if key not in kinds:
            raise NotServed(f"this cluster serves no {key[1]} of {key[0]}; use another release")
        await _apply(client, kinds[key], manifest)


async def _apply(client: Client, resource: Resource, manifest: Manifest) -> None:
    metadata = manifest["metadata"]
    collection = client.of(resource, bytes, metadata.get("namespace", ""))
    await collection.patch(metadata["name"], apply_patch(manifest, force=True))


def _at(port: int, webhook: dict[str, Any]) -> dict[str, Any]:
    path = webhook["clientConfig"]["service"]["path"]
    return webhook | {"clientConfig": {"url": f"https://127.0.0.1:{port}{path}"}}
