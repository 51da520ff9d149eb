# SPDX-License-Identifier: Apache-2.0
"""Requests, resources and what was recorded of the real server, for the tests of this folder."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.conformance.kinds import shared
from trellis.embedded.exchange import Ask
from trellis.embedded.natives import selectable_fields
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema.node import resource
from trellis.embedded.served import Served, Strategy
from trellis.embedded.wire.resources import ResourceInfo, builtin

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDENS = Path(__file__).parents[3] / "conformance" / "goldens" / "1.36"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
_NOBODY = cast("Strategy", None)


def golden(area: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((GOLDENS / f"{area}.json").read_text())
    return found


def ask(
    path: str = "/", query: dict[str, str] | None = None, method: str = "GET", **headers: str
) -> Ask:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Ask(method=method, path=path, query=tuple((query or {}).items()), headers=names)


def native(info: ResourceInfo) -> Served:
    return Served(
        group=info.group,
        version=info.version,
        kind=info.kind,
        plural=info.plural,
        singular=info.singular,
        namespaced=info.namespaced,
        schema=resource({}),
        strategy=_NOBODY,
        list_kind=info.list_kind,
        short_names=info.short_names,
        categories=info.categories,
        verbs=info.verbs,
        subresources=info.subresources,
        selectable=tuple(
            field
            for field in selectable_fields(info.group, info.kind)
            if not field.startswith("metadata.")
        ),
    )


def natives() -> list[Served]:
    return [native(info) for info in builtin()]


def of_kind(group: str, kind: str) -> Served:
    return next(each for each in natives() if (each.group, each.kind) == (group, kind))


def custom(definition: dict[str, Any], version: int = 0, **changed: Any) -> Served:
    spec = definition["spec"]
    named, told = spec["names"], spec["versions"][version]
    found = Served(
        group=spec["group"],
        version=told["name"],
        kind=named["kind"],
        plural=named["plural"],
        singular=named.get("singular", named["kind"].lower()),
        namespaced=spec["scope"] == "Namespaced",
        schema=resource(told["schema"]["openAPIV3Schema"]),
        strategy=_NOBODY,
        list_kind=f"{named['kind']}List",
        short_names=tuple(named.get("shortNames", ())),
        categories=tuple(named.get("categories", ())),
        subresources=told.get("subresources", {}),
        columns=tuple(told.get("additionalPrinterColumns", ())),
        selectable=tuple(
            each["jsonPath"].removeprefix(".") for each in told.get("selectableFields", ())
        ),
        custom=True,
        storage_version=told["name"],
    )
    return replace(found, **changed)


def customs() -> list[Served]:
    """The kinds that the probes share."""
    return [custom(definition) for definition in shared()]


def refusal(call: Callable[[], object]) -> Refusal | None:
    """What a call is refused with, None if it is not. Any other error is one."""
    try:
        call()
    except Refusal as refused:
        return refused
    return None


class Registry(list[Served]):
    epoch = 0


class Noon:
    def now(self) -> datetime:
        return NOW
