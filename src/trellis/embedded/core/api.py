# SPDX-License-Identifier: Apache-2.0
"""The API server: one request in, one answer out, whatever carried it."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.admission import warning_headers
from trellis.embedded.asking import Attributes
from trellis.embedded.core import creating, deleting, patching, reading, updating
from trellis.embedded.core.addressing import NoSuchPage, resource_at
from trellis.embedded.core.bodies import Bodies
from trellis.embedded.core.collecting import delete_collection
from trellis.embedded.core.presenting import Presenter
from trellis.embedded.core.route import Target, segments, target, verb
from trellis.embedded.core.subresources import SUBRESOURCES
from trellis.embedded.core.watching import watch
from trellis.embedded.core.world import Call, World
from trellis.embedded.exchange import Answer, Ask
from trellis.embedded.wire.information import not_found
from trellis.embedded.wire.media import STREAMED, WRITTEN, of_error, routed, written
from trellis.embedded.wire.options import (
    check_timeout,
    delete_options,
    list_options,
    write_options,
)
from trellis.instruments.logs import logger

if TYPE_CHECKING:
    from trellis.embedded.asking import User
    from trellis.embedded.wire.information import Information

_log = logger(__name__)


class Api:
    """`pages` are what is no resource: discovery, OpenAPI, health, the version."""

    def __init__(self, world: World, pages: Information) -> None:
        self._world = world
        self._pages = pages
        self._bodies = Bodies()
        self._present = Presenter(world)
        self._verbs = {
            "get": self._get,
            "list": self._list,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._deletecollection,
        }

    async def handle(self, ask: Ask) -> Answer:
        try:
            answer = await self._answer(ask)
        except refusals.Refusal as refusal:
            answer = refused(ask, refusal)
        except NoSuchPage:
            answer = not_found()
        except Exception as error:
            where = traceback.format_exc(limit=-6)
            _log.error("a request failed", method=ask.method, path=ask.path, where=where)
            answer = refused(ask, refusals.internal(f"{type(error).__name__}: {error}"))
        return self._headed(ask, answer)

    def _headed(self, ask: Ask, answer: Answer) -> Answer:
        audit = ask.headers.get("audit-id") or self._world.uid()
        names = {name for name, _ in answer.headers}
        more = [("Audit-Id", audit)]
        if "Cache-Control" not in names:
            more.append(("Cache-Control", "no-cache, private"))
        return Answer(answer.status, answer.body, (*more, *answer.headers))

    async def _answer(self, ask: Ask) -> Answer:
        parts = segments(ask.path)
        wanted = target(parts)
        user = self._world.access.enter(ask, lambda user: _attributes(ask, wanted, user))
        check_timeout(ask)
        if wanted is None:
            return self._pages.answer(ask, parts)
        return await self._resource(ask, wanted, user)

    async def _resource(self, ask: Ask, wanted: Target, user: User) -> Answer:
        served = resource_at(self._world.registry, wanted, ask)
        call = Call(
            ask=ask,
            user=user,
            served=served,
            verb=verb(ask, wanted),
            namespace=wanted.namespace if served.namespaced else "",
            name=wanted.name,
            subresource=wanted.subresource,
        )
        if served.deprecation:
            call.warnings.append(served.deprecation)
        if not served.custom:
            routed(ask, WRITTEN + STREAMED if call.verb in {"list", "watch"} else WRITTEN)
        try:
            answer = await self._dispatch(call)
        except refusals.Refusal as refusal:
            answer = refused(ask, refusal)
        headers = tuple(("Warning", text) for text in warning_headers(call.warnings))
        return Answer(answer.status, answer.body, (*answer.headers, *headers))

    async def _dispatch(self, call: Call) -> Answer:
        special = SUBRESOURCES.get((call.served.group, call.served.plural, call.subresource))
        special = special or SUBRESOURCES.get(("*", "*", call.subresource))
        if special:
            return await special(self._world, call, self._bodies, self._present)
        if call.verb == "watch":
            return watch(self._world, call, self._present)
        return await self._verbs[call.verb](call)

    async def _get(self, call: Call) -> Answer:
        record = await reading.get(self._world, call, call.ask.parameter("resourceVersion"))
        return self._present.record(call, record)

    async def _list(self, call: Call) -> Answer:
        options = list_options(call.ask, call.served)
        return self._present.page(call, await reading.page(self._world, call, options))

    async def _create(self, call: Call) -> Answer:
        options = write_options(call.ask, "CreateOptions")
        new = self._bodies.object(call, options)
        made = await creating.create(self._world, call, new, options)
        return self._present.object(call, made, status=201)

    async def _update(self, call: Call) -> Answer:
        options = write_options(call.ask, "UpdateOptions")
        new = self._bodies.object(call, options)
        updating.named_as_asked(call, new)
        uid = (new.get("metadata") or {}).get("uid") or ""
        change = updating.Change(to=lambda _: new, options=options, uid=uid)
        changed = await updating.update(self._world, call, change)
        return self._present.object(call, changed.object, status=201 if changed.created else 200)

    async def _patch(self, call: Call) -> Answer:
        changed = await patching.patch(self._world, call, self._bodies)
        return self._present.object(call, changed.object, status=201 if changed.created else 200)

    async def _delete(self, call: Call) -> Answer:
        options = delete_options(call.ask, self._bodies.options(call))
        wanted = deleting.Deletion(options=options, shown=call.name)
        return self._present.deleted(call, await deleting.delete(self._world, call, wanted))

    async def _deletecollection(self, call: Call) -> Answer:
        options = delete_options(call.ask, self._bodies.options(call))
        return self._present.page(call, await delete_collection(self._world, call, options))


def _attributes(ask: Ask, wanted: Target | None, user: User) -> Attributes:
    if wanted is None:
        return Attributes(user=user, verb=ask.method.lower(), path=ask.path)
    name = wanted.name
    done = verb(ask, wanted)
    if done in {"list", "watch"} and not name:
        name = _selected_name(ask)
    return Attributes(
        user=user,
        verb=done,
        group=wanted.group,
        version=wanted.version,
        resource=wanted.resource,
        subresource=wanted.subresource,
        namespace=wanted.namespace,
        name=name,
        path=ask.path,
    )


def _selected_name(ask: Ask) -> str:
    """A list of one object by its name needs no more rights than that object."""
    for term in ask.parameter("fieldSelector").split(","):
        field, _, value = term.partition("=")
        if field == "metadata.name" and value and not value.startswith("="):
            return value
    return ""


def refused(ask: Ask, refusal: refusals.Refusal) -> Answer:
    form = of_error(ask)
    body = b"" if ask.method == "HEAD" else written(refusal.status, form)
    return Answer(refusal.code, body, (*form.headers, *refusal.headers.items()))
