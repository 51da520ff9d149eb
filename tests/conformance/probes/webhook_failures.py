# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks that fail: slow, absent, untrusted, or answering nonsense."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.conformance.admission import Hook, Respond, json_patch, webhooks
from tests.conformance.builders import config_map
from tests.conformance.probe import Probe, probe
from trellis.webhooks.certificates import Authority

REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
CLOSED_PORT = "https://127.0.0.1:1/hook"


def _says(status: int = 200, text: str = "", kind: str = "application/json") -> Respond:
    return lambda _: web.Response(status=status, text=text, content_type=kind)


def _text(status: int, text: str) -> Respond:
    return _says(status, text, "text/plain")


def _review(**changes: Any) -> Respond:
    """A review with the right uid, with top-level fields replaced, or left out where None."""

    def respond(request: dict[str, Any]) -> web.Response:
        whole = {**REVIEW, "response": {"uid": request["uid"], "allowed": True}, **changes}
        return web.json_response({key: whole[key] for key in whole if whole[key] is not None})

    return respond


async def _create(p: Probe, kind: str, hook: Hook) -> None:
    """Sees a creation under a webhook that fails, and under one whose failure may be ignored."""
    for policy in ("Fail", "Ignore"):
        hook.settings["failurePolicy"] = policy
        async with webhooks(p, kind, hook):
            name = policy.lower()
            await p.see("POST", p.path("v1", "configmaps"), config_map(name), note=f"{kind} {name}")


def _failure(title: str, respond: Respond | None, **settings: Any) -> None:
    @probe(title)
    async def failed(p: Probe) -> None:
        await _create(p, "validating", Hook("hook", respond, **settings))


_failure("a webhook that nobody serves fails", None, clientConfig={"url": CLOSED_PORT})
_failure("a webhook that answers 500 fails", _says(500, "it broke"))
_failure("a webhook that answers 500 in plain text fails and is quoted", _text(500, "it broke"))
_failure("a webhook that answers 404 without a body fails", _says(404))
_failure("a webhook that answers 302 fails", _says(302))
_failure("a webhook whose answer is empty fails", _says())
_failure("a webhook whose answer is text fails", _text(200, "hello"))
_failure("a webhook whose answer is cut JSON fails", _says(text='{"kind": "AdmissionReview", '))
_failure("a webhook whose answer has another kind fails", _review(kind="Pod"))
_failure("a webhook whose answer has another apiVersion fails", _review(apiVersion="v1"))
_failure("a webhook that answers in v1beta1 fails", _review(apiVersion="admission.k8s.io/v1beta1"))
_failure("a webhook whose answer has no apiVersion fails", _review(apiVersion=None))
_failure("a webhook whose answer has no response fails", _review(response=None))
_failure(
    "a webhook that answers with another uid fails", _review(response={"uid": "1", "allowed": True})
)
_failure("a webhook that answers without a uid fails", _review(response={"allowed": True}))
_failure("a webhook whose allowed is a word fails", lambda _: {"allowed": "yes"})


@probe("a webhook that does not answer in time fails")
async def late(p: Probe) -> None:
    over = asyncio.Event()

    async def wait(_: dict[str, Any]) -> web.Response:
        await over.wait()
        return web.Response()

    try:
        await _create(p, "validating", Hook("hook", wait, timeoutSeconds=1))
    finally:
        over.set()


@probe("a mutating webhook that fails is told in the same words")
async def mutating(p: Probe) -> None:
    await _create(p, "mutating", Hook("hook", _says(500, "it broke")))


@probe("a webhook whose certificate another authority signed fails")
async def untrusted(p: Probe) -> None:
    other = Authority.create("other", datetime.now(UTC)).pair.certificate
    configurations = "admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations"
    async with webhooks(p, "mutating", Hook("served")):
        path = p.everywhere(*configurations, f"probe-mutating-{p.id}")
        entry = (await p.do("GET", path))["webhooks"][-1]
        bundle = base64.b64encode(other).decode()
        config = {"url": entry["clientConfig"]["url"], "caBundle": bundle}
        await _create(p, "validating", Hook("hook", clientConfig=config))


@probe("a webhook of a service that is not there fails")
async def service_missing(p: Probe) -> None:
    service = {"namespace": p.ns, "name": "hook", "path": "/here"}
    await _create(p, "validating", Hook("hook", clientConfig={"service": service}))


@probe("a patch that cannot be applied is an error although failures are to be ignored")
async def bad_patch(p: Probe) -> None:
    patch = json_patch({"op": "remove", "path": "/data/z"})
    await _create(p, "mutating", Hook("hook", lambda _: patch))


@probe("a patch that cannot be read is ignored where failures are")
async def unreadable_patch(p: Probe) -> None:
    answer = {"allowed": True, "patchType": "JSONPatch", "patch": "e30="}
    await _create(p, "mutating", Hook("hook", lambda _: answer))
