# SPDX-License-Identifier: Apache-2.0
"""Paths that name no object: discovery, OpenAPI, the version, health.

Anybody may read some of these and who may read the others is decided before this is asked. The
answers lack an Audit-Id, which every answer gets.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from trellis.embedded.exchange import Answer, Ask, Pairs
from trellis.embedded.refusals import method_not_allowed, no_such_resource
from trellis.embedded.wire import media
from trellis.embedded.wire.discovery import Catalogue
from trellis.embedded.wire.openapi import ROOT, Documents
from trellis.embedded.wire.resources import version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.served import Served

PRIVATE = ("Cache-Control", "no-cache, private")
_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
_PROTOBUF_3 = "application/com.github.proto-openapi.spec.v3"
_HEALTH = ("healthz", "livez", "readyz")
CHECKS = ("ping", "store")


class Registered(Protocol):
    """What is served now; `epoch` moves whenever that changes."""

    epoch: int

    def __iter__(self) -> Any: ...


class Clock(Protocol):
    def now(self) -> datetime: ...


class Information:
    """`server` is the address that discovery names, host and port."""

    def __init__(self, registry: Registered, clock: Clock, server: str) -> None:
        self._registry = registry
        self._clock = clock
        self._server = server
        self._epoch = -1
        self._catalogue: Catalogue
        self._documents: Documents

    def answer(self, ask: Ask, parts: list[str]) -> Answer:
        """`parts` are the path's, decoded, without the empty one of a slash at the end."""
        self._refresh()
        first, *rest = parts or [""]
        if first in ("api", "apis"):
            return self._discovery(ask, first, rest)
        if first in _HEALTH:
            return _health(ask, first, rest)
        if parts == ["version"]:
            return _version(ask)
        if first == "openapi" and rest[:1] == ["v3"]:
            return self._openapi(ask)
        return not_found()

    def _refresh(self) -> None:
        if self._epoch != self._registry.epoch:
            self._epoch = self._registry.epoch
            served: Iterable[Served] = list(self._registry)
            self._catalogue = Catalogue(served, self._server)
            self._documents = Documents(served)

    def _discovery(self, ask: Ask, first: str, rest: list[str]) -> Answer:
        catalogue = self._catalogue
        if not rest:
            return self._aggregated(ask, core=first == "api")
        if first == "api":
            group, name, deeper = "", rest[0], rest[1:]
        else:
            group, name, deeper = rest[0], (rest[1] if len(rest) > 1 else ""), rest[2:]
        found = None
        if not deeper:
            found = catalogue.resources(group, name) if name else catalogue.group(group)
        if found is None and not catalogue.is_native(group):
            return not_found()
        media.routed(ask)
        if found is None:
            raise no_such_resource()
        form = media.negotiated(ask, custom=False)
        return Answer(200, media.written(found, form), (PRIVATE, *form.headers))

    def _aggregated(self, ask: Ask, *, core: bool) -> Answer:
        media.routed(ask)
        form = media.of_discovery(ask)
        if form.kind != media.DISCOVERY:
            found = self._catalogue.core_versions() if core else self._catalogue.groups()
            return Answer(200, media.written(found, form), (PRIVATE, *form.headers))
        data, tag = self._catalogue.aggregated(core=core)
        headers = (("Cache-Control", "public"), ("ETag", tag), ("Vary", "Accept"))
        if ask.headers.get("if-none-match") == tag:
            return Answer(304, b"", headers)
        return Answer(200, data, (*headers, *form.headers))

    def _openapi(self, ask: Ask) -> Answer:
        if ask.path == ROOT:
            return Answer(200, self._documents.index(), (PRIVATE, _TEXT))
        path = ask.path.removeprefix(f"{ROOT}/")
        found = self._documents.document(path)
        if found is None:
            return Answer(404, b"", (PRIVATE,))
        vary = ("Vary", "Accept")
        if not _takes_json(ask):
            return Answer(406, b"", (PRIVATE, vary))
        described = (("ETag", f'"{found.hash}"'), vary, ("Content-Type", media.JSON))
        wanted = ask.parameter("hash")
        if wanted and wanted != found.hash:
            location = ("Location", f"{ROOT}/{path}?hash={found.hash}")
            return Answer(301, b"", (PRIVATE, *described, location))
        kept: Pairs = (PRIVATE,)
        if wanted:
            expires = self._clock.now() + timedelta(days=365)
            said = expires.strftime("%a, %d %b %Y %H:%M:%S GMT")
            kept = (("Cache-Control", "public, immutable"), ("Expires", said))
        if ask.headers.get("if-none-match") == f'"{found.hash}"':
            return Answer(304, b"", (*kept, *described[:2]))
        return Answer(200, found.data, (*kept, *described))


def _takes_json(ask: Ask) -> bool:
    """Those who would rather have protobuf all read JSON too, whatever they say."""
    accept = ask.headers.get("accept", "") or "*/*"
    types = [clause.partition(";")[0].strip() for clause in accept.split(",")]
    return any(
        each in ("*/*", "application/*", media.JSON) or each.startswith(_PROTOBUF_3)
        for each in types
    )


def _version(ask: Ask) -> Answer:
    if ask.method != "GET":
        raise method_not_allowed()
    media.routed(ask, (media.JSON,))
    data = msgspec.json.format(msgspec.json.encode(version()), indent=2)
    return Answer(200, data, (PRIVATE, ("Content-Type", media.JSON)))


def _health(ask: Ask, name: str, rest: list[str]) -> Answer:
    if rest:
        return plain(200, "ok") if "/".join(rest) in CHECKS else not_found()
    if ask.path.endswith("/"):
        return not_found()
    excluded = {value for key, value in ask.query if key == "exclude"}
    if not any(key == "verbose" for key, _ in ask.query):
        return plain(200, "ok")
    lines = [f"[+]{check}{' excluded:' if check in excluded else ''} ok" for check in CHECKS]
    return plain(200, "\n".join([*lines, f"{name} check passed", ""]))


def plain(status: int, text: str) -> Answer:
    return Answer(status, text.encode(), (PRIVATE, _TEXT, _NO_SNIFFING))


def not_found() -> Answer:
    """What a path that nobody owns is answered: no Status, unlike all else."""
    return plain(404, "404 page not found\n")
