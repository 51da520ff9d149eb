# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks that refuse or warn: what the caller is told."""

from __future__ import annotations

from typing import Any

from tests.conformance.admission import Hook, webhooks
from tests.conformance.builders import config_map
from tests.conformance.probe import Probe, probe

DETAILS = {
    "name": "a",
    "group": "example.com",
    "kind": "things",
    "uid": "00000000-0000-4000-8000-000000000001",
    "causes": [{"reason": "FieldValueInvalid", "message": "is bad", "field": "data.a"}],
    "retryAfterSeconds": 7,
}


def _answer(title: str, *kinds: str, **said: Any) -> None:
    @probe(title)
    async def answered(p: Probe) -> None:
        for kind in kinds:
            async with webhooks(p, kind, Hook("hook", lambda _: said)):
                await p.see("POST", p.path("v1", "configmaps"), config_map(kind))


def _refusal(title: str, **status: Any) -> None:
    _answer(title, "validating", allowed=False, status=status)


_answer(
    "a refusal with a message is 400 without a reason",
    "validating",
    "mutating",
    allowed=False,
    status={"message": "no such thing"},
)
_refusal("a refusal with a reason and no message quotes the reason", reason="Forbidden")
_refusal(
    "a refusal's code, reason, message and details are passed on",
    code=409,
    reason="Conflict",
    message="already taken",
    details=DETAILS,
)
_refusal("a refusal with a code and no reason passes the code on", code=418, message="a teapot")
_refusal("a refusal with a reason and a message is 400 with the reason", reason="Gone", message="x")
_refusal("a refusal with code 200 is 400", code=200, message="fine")
_refusal("a refusal with code 301 is 400", code=301, message="elsewhere")
_refusal("a refusal that calls itself a success is a failure", status="Success", message="odd")
_refusal("a refusal's metadata is passed on", metadata={"remainingItemCount": 3}, message="x")
_refusal(
    "a refusal with retryAfterSeconds and 429 sets the header",
    code=429,
    reason="TooManyRequests",
    message="later",
    details={"retryAfterSeconds": 3},
)
_answer(
    "the status of an answer that allows is ignored",
    "validating",
    allowed=True,
    status={"code": 409, "message": "not heard"},
)
_answer("an answer without allowed is a refusal", "validating")
_answer("an unknown field of an answer is ignored", "validating", allowed=True, colour="red")
_answer(
    "audit annotations of an answer are not seen by the caller",
    "validating",
    "mutating",
    allowed=True,
    auditAnnotations={"note": "seen"},
)
_answer(
    "each warning becomes a header of its own, quoted",
    "validating",
    "mutating",
    allowed=True,
    warnings=["first thing", 'a "quoted" \\ thing', "naïve"],
)
_answer("a warning given twice is sent once", "validating", allowed=True, warnings=["same", "same"])
_answer(
    "a warning with a control character or without text is not sent",
    "validating",
    allowed=True,
    warnings=["two\nlines", "a\ttab", ""],
)
_answer("a long warning is sent whole", "validating", allowed=True, warnings=["w" * 600])
_answer(
    "warnings of more than 4096 characters together are cut to 256 each and end early",
    "validating",
    allowed=True,
    warnings=[f"{number:02}" + "w" * 300 for number in range(20)],
)
_answer(
    "warnings are sent with a refusal too",
    "validating",
    allowed=False,
    warnings=["beware"],
    status={"message": "no"},
)


@probe("of several refusals by validating webhooks one is told, and all are called")
async def several_refusals(p: Probe) -> None:
    hooks = [Hook(name, lambda _: {"allowed": False}) for name in ("b", "a")]
    async with webhooks(p, "validating", *hooks) as calls:
        answer = await p.ask("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note("status", answer.status)
        p.note("calls", {name: len(calls[name]) for name in ("a", "b")})


@probe("after a mutating webhook's refusal no other webhook is called")
async def refusal_ends_chain(p: Probe) -> None:
    deny = Hook("deny", lambda _: {"allowed": False})
    async with (
        webhooks(p, "validating", Hook("check")) as checked,
        webhooks(p, "mutating", deny, Hook("later")) as mutated,
    ):
        checked.clear()
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note(
            "calls",
            {
                "deny": len(mutated["deny"]),
                "later": len(mutated["later"]),
                "check": len(checked["check"]),
            },
        )


@probe("warnings of several webhooks are sent together")
async def warnings_of_several(p: Probe) -> None:
    def warn(name: str) -> Hook:
        return Hook(name, lambda _: {"allowed": True, "warnings": [f"from {name}"]})

    async with webhooks(p, "mutating", warn("b"), warn("a")):
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
