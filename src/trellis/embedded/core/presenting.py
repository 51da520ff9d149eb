# SPDX-License-Identifier: Apache-2.0
"""Objects as answers: whole, as a table or as metadata alone, in the form that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.exchange import Answer
from trellis.embedded.store.changes import line
from trellis.embedded.wire.media import (
    PARTIAL,
    PARTIAL_LIST,
    PLAIN,
    TABLE,
    Form,
    negotiated,
    rewritten,
    written,
)
from trellis.embedded.wire.tables import Tables, is_list, is_no_list, partial, partial_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object
    from trellis.embedded.core.deleting import Deleted
    from trellis.embedded.core.reading import Page
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.served import Served
    from trellis.embedded.store.changes import Event
    from trellis.embedded.store.records import Record

_encode = msgspec.json.Encoder().encode


class Presenter:
    def __init__(self, world: World) -> None:
        self._world = world
        self._tables = Tables(world.clock)

    def record(self, call: Call, record: Record) -> Answer:
        form = negotiated(call.ask, custom=call.served.custom)
        if form.kind:
            return self.object(call, self._world.object(call.served, record))
        data = self._world.data(call.served, record)
        body = data + b"\n" if form is PLAIN else rewritten(data, form)
        return Answer(200, body, form.headers)

    def object(self, call: Call, shown: Object, *, status: int = 200) -> Answer:
        form = negotiated(call.ask, custom=call.served.custom)
        return Answer(status, written(self._in_form(call, shown, form), form), form.headers)

    def said(self, call: Call, body: Object, *, status: int = 200) -> Answer:
        """Something that is no object of the resource: a Status, a Scale, a review."""
        form = negotiated(call.ask, custom=call.served.custom)
        return Answer(status, written(body, form), form.headers)

    def deleted(self, call: Call, deleted: Deleted) -> Answer:
        served = call.served
        if not deleted.gone or served.manners.returns_deleted:
            return self.object(call, deleted.object)
        details = {
            "name": call.name,
            "group": served.group,
            "kind": served.plural,
            "uid": deleted.object["metadata"]["uid"],
        }
        return self.said(call, success({key: value for key, value in details.items() if value}))

    def page(self, call: Call, page: Page) -> Answer:
        form = negotiated(call.ask, custom=call.served.custom)
        served = call.served
        metadata: Object = {"resourceVersion": str(page.version)}
        if page.token or (served.custom and not form.kind):
            metadata["continue"] = page.token
        if page.remaining is not None:
            metadata["remainingItemCount"] = page.remaining
        if form.kind:
            body = self._list_in_form(call, page, form, metadata)
            return Answer(200, written(body, form), form.headers)
        items = [self._item(served, record) for record in page.records]
        head = _encode({"kind": served.list_kind, "apiVersion": served.api_version})
        joined = b'%b,"metadata":%b,"items":[%b]}' % (
            head[:-1],
            _encode(metadata),
            b",".join(items),
        )
        return Answer(200, rewritten(joined, form), form.headers)

    def shape(self, call: Call, form: Form) -> Callable[[Event], bytes]:
        """How the events of a watch are written."""
        served, world = call.served, self._world
        if form.kind == TABLE:
            return self._tables.watcher(served, call.ask, form, world.object)
        if form.kind:
            return lambda event: event.shaped(
                (form.kind, form.version, served.api_version),
                lambda record: _encode(partial(world.object(served, record), form.version)),
            )

        def told(event: Event) -> bytes:
            if world.as_stored(served, event.record):
                return event.line
            return event.shaped(served.api_version, lambda record: world.data(served, record))

        return told

    def bookmark(self, call: Call, form: Form) -> Callable[[int, dict[str, str]], bytes]:
        served = call.served

        def told(version: int, annotations: dict[str, str]) -> bytes:
            metadata: Object = {"resourceVersion": str(version)}
            if annotations:
                metadata["annotations"] = annotations
            about = {"kind": served.kind, "apiVersion": served.api_version}
            shown: Object = {**about, "metadata": metadata}
            if form.kind == TABLE:
                shown = self._tables.bookmark(served, shown, call.ask, form)
            elif form.kind:
                shown = partial(shown, form.version)
            return line("BOOKMARK", _encode(shown))

        return told

    def _in_form(self, call: Call, shown: Object, form: Form) -> Object:
        if form.kind == TABLE:
            return self._tables.of(call.served, [shown], call.ask, form, {})
        if form.kind == PARTIAL_LIST:
            raise is_no_list(call.served)
        return partial(shown, form.version) if form.kind else shown

    def _list_in_form(self, call: Call, page: Page, form: Form, metadata: Object) -> Object:
        if form.kind == PARTIAL:
            raise is_list(call.served)
        objects = [self._world.object(call.served, record) for record in page.records]
        if form.kind == TABLE:
            return self._tables.of(call.served, objects, call.ask, form, metadata)
        return partial_list(objects, metadata, form.version)

    def _item(self, served: Served, record: Record) -> bytes:
        if served.custom:
            return self._world.data(served, record)
        return self._world.bare(served, record)


def success(details: Object) -> Object:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }
