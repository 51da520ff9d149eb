# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks: what they are sent, when they are called, and what their answers do."""

from __future__ import annotations

from tests.conformance.admission import Hook, webhooks
from tests.conformance.builders import config_map
from tests.conformance.probe import Probe, probe


@probe("a refusal without a reason is 400 and says so")
async def denied_without_reason(p: Probe) -> None:
    deny = Hook("deny", lambda _: {"allowed": False})
    async with webhooks(p, "validating", deny) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note("what the webhook was sent", calls["deny"])
