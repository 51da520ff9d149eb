# SPDX-License-Identifier: Apache-2.0
"""Webhook configurations and a Secret on a real API server, behind the custodian's protocols."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.api import Api, Request
from tests.support.waiting import eventually
from trellis.webhooks.custodian import Published, Stored

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

GROUP = "/apis/admissionregistration.k8s.io/v1"
KINDS = ("mutating", "validating")
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
}
CANARY = "trellis.dev/canary"


@dataclass(frozen=True, slots=True)
class SecretStore:
    """One Secret, guarded by its resourceVersion."""

    api: Api
    namespace: str
    name: str = "webhook-certificates"

    async def read(self) -> Stored:
        answer = await self.api.send(Request(method="GET", path=f"{self._all}/{self.name}"))
        if answer.status == 404:
            return Stored({}, "")
        assert answer.status == 200, answer.body
        data = answer.body.get("data") or {}
        decoded = {key: base64.b64decode(value) for key, value in data.items()}
        return Stored(decoded, answer.body["metadata"]["resourceVersion"])

    async def swap(self, seen: Stored, data: Mapping[str, bytes]) -> bool:
        metadata = {"name": self.name}
        if seen.version:
            metadata["resourceVersion"] = seen.version
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        answer = await self.api.send(
            Request(
                method="PUT" if seen.version else "POST",
                path=f"{self._all}/{self.name}" if seen.version else self._all,
                body={"metadata": metadata, "data": encoded},
            )
        )
        assert answer.status in {200, 201, 409}, answer.body
        return answer.status != 409

    @property
    def _all(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets"


@dataclass(frozen=True, slots=True)
class Configurations:
    """The two webhook configurations of a test, each guarded by its resourceVersion."""

    api: Api
    name: str

    async def read(self) -> Published:
        found = [await self.api.do("GET", self.path(kind)) for kind in KINDS]
        bundles = tuple(
            base64.b64decode(webhook["clientConfig"].get("caBundle", ""))
            for one in found
            for webhook in one["webhooks"]
        )
        return Published(bundles, json.dumps(found))

    async def publish(self, seen: Published, bundle: bytes) -> bool:
        encoded = base64.b64encode(bundle).decode()
        written = True
        for kind, body in zip(KINDS, json.loads(seen.version), strict=True):
            for webhook in body["webhooks"]:
                webhook["clientConfig"]["caBundle"] = encoded
            answer = await self.api.send(Request(method="PUT", path=self.path(kind), body=body))
            assert answer.status in {200, 409}, answer.body
            written = written and answer.status == 200
        return written

    def path(self, kind: str = "", name: str | None = None) -> str:
        folder = f"{GROUP}/{kind}webhookconfigurations"
        return f"{folder}/{self.name if name is None else name}".rstrip("/")


@asynccontextmanager
async def registered(api: Api, namespace: str, url: str) -> AsyncIterator[Configurations]:
    """A mutating and a validating configuration that call `url`/default and `url`/validate for
    ConfigMaps of one namespace. Their bundles are empty."""
    made = Configurations(api, f"e2e-{namespace}")
    try:
        for kind, path in zip(KINDS, ("default", "validate"), strict=True):
            await api.do(
                "POST", made.path(kind, ""), _configuration(made.name, kind, f"{url}/{path}")
            )
        yield made
    finally:
        for kind in KINDS:
            await api.send(Request(method="DELETE", path=made.path(kind)))


def _configuration(name: str, kind: str, url: str) -> dict[str, Any]:
    namespace = name.removeprefix("e2e-")
    return {
        "kind": f"{kind.capitalize()}WebhookConfiguration",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{kind}.trellis.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 3,
                "failurePolicy": "Fail",
                "clientConfig": {"url": url},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [RULE],
            }
        ],
    }


async def until_called(api: Api, namespace: str) -> None:
    """Configurations reach the server through a watch. The canary is refused by whom it must be,
    and warned about by whom it must be, only when both are called."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    canary = {"metadata": {"name": "canary", "labels": {CANARY: "true"}}}
    request = Request(method="POST", path=path, body=canary, query={"dryRun": "All"})

    async def both() -> bool:
        answer = await api.send(request)
        warned = any(CANARY in value for value in answer.headers.getall("Warning", []))
        return warned and answer.status == 418

    await eventually(both, "both webhooks to be called")


@asynccontextmanager
async def beside(*runs: Any) -> AsyncIterator[None]:
    """Runs beside a block, and ends with it."""
    tasks = [asyncio.create_task(run) for run in runs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
