# SPDX-License-Identifier: Apache-2.0
"""/openapi/v3 and /openapi/v2, as kubectl and client generators read them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tests.conformance.kinds import DEFINITIONS, GROUP, WIDGETS, definition, schema
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.api import Answer

INDEX = "/openapi/v3"
APPS = "/openapi/v3/apis/apps/v1"
DEPLOYMENT = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
SCHEMAS = "dev.trellis.conformance.v1"
KINDS = ("Beacon", "Gadget", "Widget")
WIDGETS_DOCUMENT = f"{INDEX}/apis/{WIDGETS}"
WIDGETS_PATH = f"/apis/{WIDGETS}/namespaces/{{namespace}}/widgets"
PROTOBUF_2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF_3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
_HASH = re.compile("hash=[0-9A-F]{128}")
SPEC_PROPERTIES = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
HEADERS = ("Cache-Control", "Content-Type", "ETag", "Expires", "Location", "Vary")


def paths(*wanted: str) -> Callable[[str], dict[str, Any]]:
    """Entries of the index, which comes as text. Other groups come and go."""

    def pick(text: str) -> dict[str, Any]:
        found = json.loads(_HASH.sub("hash=<hash>", text))
        return {**found, "paths": {path: found["paths"][path] for path in wanted}}

    return pick


async def hashed(p: Probe, path: str) -> str:
    """The hash of a document as the index has it, hidden in what is recorded."""
    body = json.loads(await p.do("GET", INDEX))
    url = body["paths"][path]["serverRelativeURL"]
    found: str = parse_qs(urlsplit(url).query)["hash"][0]
    p.hide(found, "hash")
    return found


def shown(answer: Answer) -> dict[str, Any]:
    """The headers that steer caches; when something expires depends on when it was asked for."""
    seen = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
    return {**seen, **({"Expires": "in a year"} if "Expires" in seen else {})}


async def until_documented(p: Probe) -> None:
    """Documents of custom kinds follow their definitions after a while."""

    def ready(answer: Answer) -> bool:
        documented = answer.status == 200 and answer.body["components"]["schemas"]
        return all(f"{SCHEMAS}.{kind}" in (documented or ()) for kind in KINDS)

    await p.until("GET", WIDGETS_DOCUMENT, ready)


@probe("the index comes as text and names each document with the hash of its content")
async def index(p: Probe) -> None:
    await until_documented(p)
    wanted = ("api/v1", "apis/apps/v1", "apis", "version", f"apis/{WIDGETS}")
    await p.see("GET", INDEX, pick=paths(*wanted))


@probe("the index names every built-in group, and the paths outside of groups")
async def index_names(p: Probe) -> None:
    def names(text: str) -> list[str]:
        found = json.loads(text)["paths"]
        return sorted(path for path in found if "." not in path or ".k8s.io" in path)

    await p.see("GET", INDEX, pick=names)


@probe("a document asked for by its hash may be kept for a year, one without not at all")
async def caching(p: Probe) -> None:
    found = await hashed(p, "apis/apps/v1")
    for query in ({"hash": found}, {}):
        answer = await p.ask("GET", APPS, query=query)
        p.note(f"headers of a GET with {', '.join(query) or 'nothing'}", shown(answer))


@probe("a wrong hash is redirected to the right one")
async def redirected(p: Probe) -> None:
    await hashed(p, "apis/apps/v1")
    await p.see("GET", APPS, query={"hash": "0"})
    answer = await p.ask("GET", APPS, query={"hash": "0"})
    p.note("headers", shown(answer))


@probe("If-None-Match with the ETag is 304")
async def unchanged(p: Probe) -> None:
    found = await hashed(p, "apis/apps/v1")
    await p.see("GET", APPS, headers={"If-None-Match": f'"{found}"'})


@probe("documents come as JSON or protobuf, and as nothing else")
async def formats(p: Probe) -> None:
    await hashed(p, "apis/apps/v1")
    for accept in ("*/*", "application/json", PROTOBUF_3, "application/yaml", "text/plain"):
        answer = await p.ask("GET", APPS, accept=accept)
        p.note(accept, {"status": answer.status, "headers": shown(answer)})


@probe("a document that is not there is 404 without a body")
async def missing(p: Probe) -> None:
    for path in (f"{INDEX}/apis/none.example.com/v1", f"{INDEX}/", f"{INDEX}/apis/apps/v9"):
        await p.see("GET", path)


@probe("the server is described by a version and a way to authenticate")
async def envelope(p: Probe) -> None:
    def pick(body: dict[str, Any]) -> dict[str, Any]:
        security = body["components"]["securitySchemes"]
        return {"openapi": body["openapi"], "info": body["info"], "securitySchemes": security}

    await p.see("GET", APPS, pick=pick)


@probe("a path of a kind has its verbs and shared parameters")
async def verbs(p: Probe) -> None:
    def pick(body: dict[str, Any]) -> dict[str, Any]:
        return {
            path: sorted(operations)
            for path, operations in body["paths"].items()
            if "deployments" in path or path == "/apis/apps/v1/"
        }

    await p.see("GET", APPS, pick=pick)


def operation(title: str, document: str, path: str, method: str) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        if document == WIDGETS_DOCUMENT:
            await until_documented(p)
        await p.see("GET", document, pick=lambda body: body["paths"][path][method])


operation(
    "PATCH of a built-in kind takes fieldValidation and names the kind", APPS, DEPLOYMENT, "patch"
)
operation("DELETE of a built-in kind takes DeleteOptions", APPS, DEPLOYMENT, "delete")
operation(
    "a collection of a built-in kind can be listed and watched",
    APPS,
    DEPLOYMENT.removesuffix("/{name}"),
    "get",
)
operation(
    "PATCH of a custom kind takes no strategic merge",
    WIDGETS_DOCUMENT,
    f"{WIDGETS_PATH}/{{name}}",
    "patch",
)
operation("POST of a custom kind takes the kind as a body", WIDGETS_DOCUMENT, WIDGETS_PATH, "post")


def component(title: str, document: str, name: str) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        if document == WIDGETS_DOCUMENT:
            await until_documented(p)
        await p.see("GET", document, pick=lambda body: body["components"]["schemas"][name])


component(
    "the schema of a built-in kind has its defaults, and refers to other schemas",
    f"{INDEX}/apis/coordination.k8s.io/v1",
    "io.k8s.api.coordination.v1.Lease",
)


@probe("the schema of a built-in list says how it merges")
async def merging(p: Probe) -> None:
    def pick(body: dict[str, Any]) -> dict[str, Any]:
        fields = body["components"]["schemas"]["io.k8s.api.core.v1.Container"]["properties"]
        return {name: fields[name] for name in ("args", "env", "ports")}

    await p.see("GET", APPS, pick=pick)


component(
    "the schema of a custom kind is that of its definition, with metadata and defaults",
    WIDGETS_DOCUMENT,
    f"{SCHEMAS}.Widget",
)
component(
    "the schema of a custom kind that keeps unknown fields says so",
    WIDGETS_DOCUMENT,
    f"{SCHEMAS}.Gadget",
)
component(
    "the list of a custom kind has a schema too",
    WIDGETS_DOCUMENT,
    f"{SCHEMAS}.WidgetList",
)


@probe("the document of a custom group holds nothing of other groups")
async def custom_document(p: Probe) -> None:
    await until_documented(p)

    def pick(body: dict[str, Any]) -> dict[str, Any]:
        found = body["components"]["schemas"]
        return {"paths": sorted(body["paths"]), "schemas": sorted(found), "info": body["info"]}

    await p.see("GET", WIDGETS_DOCUMENT, pick=pick)


@probe("a definition's document appears, changes its hash with the schema, and goes")
async def followed(p: Probe) -> None:
    group = f"{p.id}.example.com"
    name = f"{DEFINITIONS}/things.{group}"
    document = f"{INDEX}/apis/{group}/v1"
    before = {"type": "object", "properties": {"a": {"type": "string"}}}
    crd = definition(group, "things", "Thing", {"schema": schema(spec=before)})
    await p.do("POST", DEFINITIONS, crd)
    kind = f"com.example.{p.id}.v1.Thing"

    def described(answer: Answer, field: str) -> bool:
        if answer.status != 200:
            return False
        spec = answer.body["components"]["schemas"][kind]["properties"]["spec"]
        return field in spec["properties"]

    await p.until("GET", document, lambda answer: described(answer, "a"))
    first = await hashed(p, f"apis/{group}/v1")
    change = [{"op": "add", "path": f"{SPEC_PROPERTIES}/b", "value": {"type": "integer"}}]
    await p.do("PATCH", name, change, patch="json")
    await p.until("GET", document, lambda answer: described(answer, "b"))
    await p.until("GET", INDEX, lambda answer: first not in answer.content.decode())
    second = await hashed(p, f"apis/{group}/v1")
    p.note("the hash has changed", first != second)
    await p.do("DELETE", name)
    await p.until_gone(document)
    await p.see("GET", document)


@probe("/openapi/v2 is one document of everything, in JSON or protobuf")
async def version_2(p: Probe) -> None:
    def pick(body: dict[str, Any]) -> dict[str, Any]:
        kind = body["definitions"]["io.k8s.api.coordination.v1.Lease"]
        return {"swagger": body["swagger"], "info": body["info"], "Lease": kind}

    await p.see("GET", "/openapi/v2", pick=pick)
    answer = await p.ask("GET", "/openapi/v2", accept=PROTOBUF_2)
    p.note("as protobuf", {"status": answer.status, "type": answer.headers["Content-Type"]})


@probe("/openapi/v2 follows custom kinds")
async def version_2_custom(p: Probe) -> None:
    await p.until("GET", "/openapi/v2", lambda answer: WIDGETS_PATH.encode() in answer.content)

    def pick(body: dict[str, Any]) -> Any:
        return body["definitions"][f"{SCHEMAS}.Gadget"]

    await p.see("GET", "/openapi/v2", pick=pick)


@probe("other paths that once held a description are 404")
async def elsewhere(p: Probe) -> None:
    for path in ("/openapi", "/swagger.json", "/openapi/v2/swagger.json", f"{INDEX}/{GROUP}"):
        await p.see("GET", path)
