# SPDX-License-Identifier: Apache-2.0
"""Bodies and their types: what the server reads, what it answers in, and what it will not touch."""

from __future__ import annotations

import json
from typing import Any

import yaml

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

PROTOBUF = "application/vnd.kubernetes.protobuf"
YAML = "application/yaml"
DRY = {"dryRun": "All"}
LIMIT = 3 << 20
_MALFORMED = (b"{", b"nonsense", b"[]", b'"text"', b"null", b'{"metadata": {"name": "a"}} {}')
_EMPTY: tuple[Any, ...] = (None, b"", {})


def _kind(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": body["kind"]}


def _targets(p: Probe) -> dict[str, dict[str, Any]]:
    """The collections of a built-in and of a custom kind, with an object for each."""
    return {
        p.path("v1", "configmaps"): config_map("a"),
        p.path(WIDGETS, "widgets"): widget("a"),
    }


async def _make_both(p: Probe) -> list[str]:
    for path, body in _targets(p).items():
        await p.do("POST", path, body)
    return [f"{path}/a" for path in _targets(p)]


@probe("a body that is not a JSON object is 400 and quotes its start; null is an empty object")
async def malformed(p: Probe) -> None:
    for body in _MALFORMED:
        await p.see("POST", p.path("v1", "configmaps"), body, note=body.decode())


@probe("a body that is not a JSON object is 400 for a custom resource too, null included")
async def malformed_custom(p: Probe) -> None:
    for body in _MALFORMED:
        await p.see("POST", p.path(WIDGETS, "widgets"), body, note=body.decode())


@probe("creating with an empty body is 400, with an empty object 422")
async def empty_create(p: Probe) -> None:
    for body in _EMPTY:
        await p.see("POST", p.path("v1", "configmaps"), body, note=repr(body))


@probe("creating a custom resource with an empty body or object is 400")
async def empty_create_custom(p: Probe) -> None:
    for body in _EMPTY:
        await p.see("POST", p.path(WIDGETS, "widgets"), body, note=repr(body))


@probe("updating and patching with an empty body is 400")
async def empty_update(p: Probe) -> None:
    for path in await _make_both(p):
        await p.see("PUT", path, b"")
        await p.see("PUT", path, {}, note="an empty object")
        await p.see("PATCH", path, b"", patch="merge")


@probe("JSON is read whatever the parameters and case of its type")
async def json_types(p: Probe) -> None:
    for kind in ("application/json; charset=utf-8", "application/json;a=b", "APPLICATION/JSON"):
        for path, body in _targets(p).items():
            how = {"headers": {"Content-Type": kind}, "note": kind, "query": DRY}
            await p.see("POST", path, body, pick=_kind, **how)


@probe("a type that the server does not read is 415 and names those that it does")
async def unsupported_type(p: Probe) -> None:
    for kind in ("text/plain", "nonsense", "*/*", "application/x-www-form-urlencoded"):
        await p.see(
            "POST",
            p.path("v1", "configmaps"),
            config_map("a"),
            headers={"Content-Type": kind},
            note=kind,
        )
    headers = {"Content-Type": "application/merge-patch+json"}
    for path, body in _targets(p).items():
        await p.see("POST", path, body, headers=headers, note=headers["Content-Type"])


@probe("JSON that claims to be protobuf is 400")
async def not_protobuf(p: Probe) -> None:
    headers = {"Content-Type": PROTOBUF}
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"), headers=headers)


@probe("a body without any type is read as JSON")
async def no_type(p: Probe) -> None:
    headers = {"User-Agent": p.api.user_agent}
    if p.api.token:
        headers["Authorization"] = f"Bearer {p.api.token}"
    for path, body in _targets(p).items():
        # The client of the probes always names a type, so this goes around it.
        async with p.api.session.request(
            "POST",
            p.api.server + path,
            data=json.dumps(body).encode(),
            headers=headers,
            ssl=p.api.tls,
        ) as answer:
            seen = {"status": answer.status, "body": await answer.json()}
        p.note(f"POST {path}", seen)


@probe("YAML is read as well as JSON")
async def yaml_bodies(p: Probe) -> None:
    for path, body in _targets(p).items():
        text = yaml.safe_dump(body).encode()
        await p.see("POST", path, text, headers={"Content-Type": YAML})


@probe("of several YAML documents the first is taken and the others are ignored")
async def yaml_documents(p: Probe) -> None:
    text = yaml.safe_dump_all([config_map("a"), config_map("b")]).encode()
    await p.see("POST", p.path("v1", "configmaps"), text, headers={"Content-Type": YAML})
    await p.see("GET", p.path("v1", "configmaps", "b"))


@probe("a repeated key in YAML is a warning that names the line, and 400 if strict")
async def yaml_repeated(p: Probe) -> None:
    for path, body in _targets(p).items():
        text = yaml.safe_dump(body).encode() + b"kind: " + body["kind"].encode() + b"\n"
        how: dict[str, Any] = {"headers": {"Content-Type": YAML}}
        await p.see("POST", path, text, query=DRY, pick=_kind, **how)
        await p.see("POST", path, text, query={**DRY, "fieldValidation": "Strict"}, **how)


@probe("malformed YAML is 400, and so is YAML that claims to be JSON")
async def yaml_malformed(p: Probe) -> None:
    for path, body in _targets(p).items():
        await p.see("POST", path, b"a: [", headers={"Content-Type": YAML})
        await p.see("POST", path, yaml.safe_dump(body).encode())


@probe("a client may accept YAML, or prefer it, and gets it")
async def yaml_answers(p: Probe) -> None:
    for path in await _make_both(p):
        for accept in (YAML, f"application/json;q=0.1,{YAML};q=0.9"):
            answer = await p.ask("GET", path, accept=accept)
            kind = answer.headers["Content-Type"]
            p.note(f"GET {path} with {accept}", {kind: yaml.safe_load(answer.content)})


@probe("a client that accepts anything, or JSON among others, gets JSON")
async def accepted(p: Probe) -> None:
    browser = "text/html,application/xml;q=0.9,*/*;q=0.8"
    for path in await _make_both(p):
        for accept in ("*/*", "text/plain, application/json", browser):
            await p.see("GET", path, accept=accept, note=accept, pick=_kind)


@probe("neither a watch's type, an empty list nor a quality of zero keep JSON from being sent")
async def accepted_oddly(p: Probe) -> None:
    for path in await _make_both(p):
        for accept in ("application/json;stream=watch", "", "application/json;q=0"):
            await p.see("GET", path, accept=accept, note=accept, pick=_kind)


@probe("a client that accepts nothing the server can write gets 406 with a Status in JSON")
async def not_acceptable(p: Probe) -> None:
    for path in await _make_both(p):
        for accept in ("text/plain", "application/cbor", "nonsense"):
            await p.see("GET", path, accept=accept, note=accept)


@probe("application/* is not acceptable for a built-in kind but is for a custom resource")
async def half_wild(p: Probe) -> None:
    for path in await _make_both(p):
        await p.see("GET", path, accept="application/*", pick=_kind)


@probe("406 comes before the body is read, and after the path was found")
async def not_acceptable_write(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.see("POST", path, config_map("a"), accept="text/plain")
    await p.see("GET", f"{path}/a")
    await p.see("POST", path, b"{", accept="text/plain", headers={"Content-Type": "text/plain"})
    await p.see("POST", p.path("v1", "nonsense"), config_map("a"), accept="text/plain")


@probe("discovery and version are 406 for a client that takes no JSON, health never is")
async def not_acceptable_elsewhere(p: Probe) -> None:
    for path in ("/version", "/api", "/apis/apps/v1", "/healthz", "/nonsense"):
        await p.see("GET", path, accept="text/css")


@probe("protobuf is sent for a built-in kind, Status included, and is 406 for a custom resource")
async def protobuf(p: Probe) -> None:
    for path in await _make_both(p):
        for target in (path, f"{path}-missing"):
            await _note_encoding(p, target, PROTOBUF)


@probe("a client that prefers protobuf but takes JSON gets JSON for a custom resource")
async def protobuf_or_json(p: Probe) -> None:
    for path in await _make_both(p):
        await _note_encoding(p, path, f"{PROTOBUF},application/json")


async def _note_encoding(p: Probe, path: str, accept: str) -> None:
    answer = await p.ask("GET", path, accept=accept)
    seen = {"status": answer.status, "type": answer.headers["Content-Type"]}
    p.note(f"GET {path}", {**seen, "starts with": answer.content[:4].decode()})


@probe("a body of more than 3 MiB is 413, whatever it is for")
async def too_large(p: Probe) -> None:
    for path in await _make_both(p):
        await p.see("PATCH", path, b" " * (LIMIT + 1), patch="merge")
        await p.see("DELETE", path, b" " * (LIMIT + 1))
    for path in _targets(p):
        await p.see("POST", path, b" " * (LIMIT + 1))


@probe("a body of exactly 3 MiB is read")
async def just_small_enough(p: Probe) -> None:
    body = json.dumps(config_map("a")).encode()
    await p.see("POST", p.path("v1", "configmaps"), body.ljust(LIMIT), pick=_kind)


@probe("an object that the store finds too large is 500 without a reason")
async def too_large_to_store(p: Probe) -> None:
    large = widget("a", {"size": 3, "free": {"a": "x" * 1_600_000}})
    await p.see("POST", p.path(WIDGETS, "widgets"), large)


@probe("a config map or secret may hold 1 MiB and not a byte more")
async def one_mebibyte(p: Probe) -> None:
    full = "x" * (1 << 20)
    await p.see("POST", p.path("v1", "configmaps"), config_map("a", {"a": full}), pick=_kind)
    await p.see("POST", p.path("v1", "configmaps"), config_map("b", {"a": full + "x"}))
    for name, value in (("a", full), ("b", full + "x")):
        secret = {"metadata": {"name": name}, "stringData": {"a": value}}
        await p.see("POST", p.path("v1", "secrets"), secret, pick=_kind)
