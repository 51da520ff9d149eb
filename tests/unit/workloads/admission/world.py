# SPDX-License-Identifier: Apache-2.0
"""An API server in the test's own process with our definitions and our webhooks, as shipped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.unit.embedded.core.clusters import TOKEN, Admin, fresh_cluster
from trellis.api.config import OperatorConfiguration
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.admission import webhook_configurations
from trellis.app.manifests.installation import Installation
from trellis.app.manifests.workloads import WORKLOAD_WEBHOOKS
from trellis.app.wiring import workload_handlers
from trellis.embedded.exchange import Ask
from trellis.webhooks.hearing import Hearing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trellis.webhooks.verdict import Handler

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_KINDS = (PodCliqueSet, PodClique, PodCliqueScalingGroup)


@dataclass(frozen=True, slots=True)
class Answered:
    """What the server said."""

    status: int
    body: Any
    warnings: tuple[str, ...] = ()

    @property
    def fields(self) -> list[str]:
        causes = self.body.get("details", {}).get("causes", ())
        return [cause.get("field", "") for cause in causes]

    def names(self, field: str) -> bool:
        """Whether a person who reads it is told of the field."""
        return field in self.body["message"] or field in self.fields


@dataclass(frozen=True, slots=True)
class World:
    admin: Admin

    async def ask(self, method: str, path: str, body: Any = None, **more: str) -> Answered:
        answer = await self.admin.ask(method, path, body, **more)
        assert isinstance(answer.body, bytes)
        said = tuple(value for name, value in answer.headers if name.lower() == "warning")
        return Answered(answer.status, json.loads(answer.body), said)

    async def send(self, path: str, body: bytes) -> Answered:
        """Bytes as they stand, as a create."""
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        answer = await self.admin.cluster.handle(
            Ask(method="POST", path=path, query=(), headers=headers, body=body)
        )
        assert isinstance(answer.body, bytes)
        return Answered(answer.status, json.loads(answer.body))

    async def made(self, path: str, body: Any) -> Any:
        return await self.admin.do("POST", path, body)


def at(plural: str, name: str = "", subresource: str = "") -> str:
    path = f"/apis/grove.io/v1alpha1/namespaces/default/{plural}"
    return "/".join(part for part in (path, name, subresource) if part)


async def a_world(configuration: OperatorConfiguration | None = None) -> World:
    admin = await fresh_cluster()
    for served in KINDS:
        if served.type in _KINDS:
            await admin.do("POST", _DEFINITIONS, definition(served))
    handlers = workload_handlers(configuration or OperatorConfiguration(), OPERATOR)
    wanted = [webhook for webhook in WORKLOAD_WEBHOOKS if not webhook.optional]
    for manifest in webhook_configurations(wanted, Installation()):
        await admin.do("POST", f"{_WEBHOOKS}/{manifest['kind'].lower()}s", manifest)
    for webhook in wanted:
        admin.cluster.callers.handle_webhook(webhook.name, _answering(handlers[webhook.path]))
    return World(admin)


def _answering(handler: Handler) -> Callable[[bytes], Awaitable[bytes]]:
    async def answer(body: bytes) -> bytes:
        return Hearing(handler, body).hear().content

    return answer
