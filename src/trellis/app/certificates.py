# SPDX-License-Identifier: Apache-2.0
"""Where the admission server's certificates are kept in a cluster, and who is told of them.

The keys lie in one Secret of the operator's namespace; the bundle goes into the webhook
configurations that are ours. Every write is guarded by the version that was read.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from trellis.api.meta import Metadata, Object, Resource, Value, encode
from trellis.kube.errors import AlreadyExists, Conflict, Invalid, NotFound
from trellis.kube.verbs import json_patch, merge_patch
from trellis.webhooks.custodian import Published, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.app.manifests.declarations import Webhook
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection

_ADMISSION = "admissionregistration.k8s.io"


class Secret(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "Secret", "secrets")

    data: dict[str, bytes] = field(default_factory=dict)
    type: str = "Opaque"


class ClientConfig(Value, frozen=True, kw_only=True):
    ca_bundle: bytes = b""


class WebhookEntry(Value, frozen=True, kw_only=True):
    client_config: ClientConfig = ClientConfig()


class WebhookConfiguration(Object, frozen=True, kw_only=True):
    """What is read of either kind of webhook configuration."""

    webhooks: tuple[WebhookEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class SecretStore:
    """One Secret as the store of a custodian."""

    secrets: Collection[Secret]
    name: str

    async def read(self) -> Stored:
        try:
            found = await self.secrets.get(self.name)
        except NotFound:
            return Stored({}, "")
        return Stored(found.data, found.metadata.resource_version)

    async def swap(self, seen: Stored, data: Mapping[str, bytes]) -> bool:
        try:
            if seen.version:
                await self.secrets.patch(self.name, merge_patch(_changes(seen, data)))
            else:
                metadata = Metadata(name=self.name, namespace=self.secrets.namespace)
                await self.secrets.create(encode(Secret(metadata=metadata, data=dict(data))))
        except (AlreadyExists, Conflict, NotFound):
            return False
        return True


@dataclass(frozen=True, slots=True)
class BundlePublisher:
    """The webhook configurations that name our server; one that is not installed is left out."""

    configurations: tuple[tuple[Collection[WebhookConfiguration], str], ...]

    async def read(self) -> Published:
        found = [one for _, one in await self._found()]
        bundles = (entry.client_config.ca_bundle for one in found for entry in one.webhooks)
        return Published(tuple(bundles), _version(found))

    async def publish(self, seen: Published, bundle: bytes) -> bool:
        found = await self._found()
        if _version(one for _, one in found) != seen.version:
            return False
        for collection, configuration in found:
            operations = _operations(configuration, bundle)
            try:
                await collection.patch(configuration.metadata.name, json_patch(operations))
            except (Conflict, Invalid, NotFound):
                # Its version is the first thing tested: somebody else was faster.
                return False
        return True

    async def _found(
        self,
    ) -> list[tuple[Collection[WebhookConfiguration], WebhookConfiguration]]:
        found = []
        for collection, name in self.configurations:
            try:
                found.append((collection, await collection.get(name)))
            except NotFound:
                continue
        return found


def secret_store(client: Client, namespace: str, name: str) -> SecretStore:
    return SecretStore(client.of(Secret.resource, Secret, namespace), name)


def bundle_publisher(client: Client, webhooks: Iterable[Webhook]) -> BundlePublisher:
    named = dict.fromkeys((webhook.kind, webhook.configuration) for webhook in webhooks)
    return BundlePublisher(
        tuple(
            (client.of(_resource(kind.value), WebhookConfiguration), name) for kind, name in named
        )
    )


def _resource(kind: str) -> Resource:
    return Resource(_ADMISSION, "v1", kind, f"{kind.lower()}s", namespaced=False)


def _changes(seen: Stored, data: Mapping[str, bytes]) -> dict[str, object]:
    """A merge patch, guarded by the version; a key that is to go must be said to be null."""
    kept = {key: base64.b64encode(value).decode() for key, value in data.items()}
    gone = dict.fromkeys(seen.data.keys() - data.keys())
    return {"metadata": {"resourceVersion": seen.version}, "data": {**gone, **kept}}


def _operations(configuration: WebhookConfiguration, bundle: bytes) -> list[dict[str, str]]:
    version = configuration.metadata.resource_version
    encoded = base64.b64encode(bundle).decode()
    unchanged = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    paths = (
        f"/webhooks/{index}/clientConfig/caBundle" for index in range(len(configuration.webhooks))
    )
    return [unchanged, *({"op": "add", "path": path, "value": encoded} for path in paths)]


def _version(found: Iterable[WebhookConfiguration]) -> str:
    return ",".join(f"{one.metadata.uid}@{one.metadata.resource_version}" for one in found)
