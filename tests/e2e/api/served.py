# SPDX-License-Identifier: Apache-2.0
"""Where objects of ours are served, and what the server says when it refuses one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.api import JSON, PATCHES, Request
from trellis.api import strictyaml
from trellis.api.schema.kinds import KINDS

if TYPE_CHECKING:
    from tests.support.api import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MANIFESTS = sorted((Path(__file__).parent / "manifests").iterdir())
DRY = {"dryRun": "All", "fieldValidation": "Strict"}
RESOURCES = {served.type.resource.kind: served.type.resource for served in KINDS}


def manifest(name: str) -> dict[str, Any]:
    """One of the manifests beside this file."""
    text = (Path(__file__).parent / "manifests" / f"{name}.yaml").read_text()
    loaded: dict[str, Any] = strictyaml.load(text)
    return loaded


def place(kind: str, namespace: str) -> str:
    """The path of all objects of a kind, in a namespace if it has one."""
    resource = RESOURCES[kind]
    within = f"/namespaces/{namespace}" if resource.namespaced else ""
    return f"/apis/{resource.api_version}{within}/{resource.plural}"


async def create(api: Api, namespace: str, body: dict[str, Any]) -> dict[str, Any]:
    """Makes an object; a field that the definition does not know is an error."""
    path = place(body["kind"], namespace)
    made: dict[str, Any] = await api.do("POST", f"{path}?fieldValidation=Strict", body)
    return made


async def refused_create(api: Api, namespace: str, body: dict[str, Any]) -> list[dict[str, str]]:
    """The causes for which the server refuses an object. Nothing is stored either way."""
    path = place(body["kind"], namespace)
    return await _refused(api, Request(method="POST", path=path, body=body, query=DRY))


async def refused_patch(api: Api, path: str, patch: Any) -> list[dict[str, str]]:
    """The causes for which the server refuses a change: a merge patch, or a list of JSON ones."""
    form = PATCHES["json" if isinstance(patch, list) else "merge"]
    headers = {"Content-Type": form, "Accept": JSON}
    return await _refused(
        api, Request(method="PATCH", path=path, body=patch, query=DRY, headers=headers)
    )


async def _refused(api: Api, request: Request) -> list[dict[str, str]]:
    answer = await api.send(request)
    assert answer.status == 422, f"{answer.status} to {request.body}: {answer.content[:300]!r}"
    causes: list[dict[str, str]] = answer.body["details"]["causes"]
    return causes
