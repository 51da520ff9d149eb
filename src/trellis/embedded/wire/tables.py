# SPDX-License-Identifier: Apache-2.0
"""Objects as rows of a table, and as metadata alone, for clients that ask for these forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from trellis.embedded.definitions.jsonpath import JSONPath
from trellis.embedded.fielderrors import invalid
from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.wire.media import PARTIAL, PARTIAL_LIST, TABLE
from trellis.embedded.wire.printing import BUILT_IN, Cells, dated, plain
from trellis.embedded.wire.printing.ages import INVALID, human, parsed
from trellis.embedded.wire.printing.pods import conditions

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.embedded.exchange import Ask
    from trellis.embedded.served import Served
    from trellis.embedded.store.changes import Event
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.media import Form

Object = dict[str, Any]
Column = Mapping[str, Any]

META = "meta.k8s.io"
# A resource without columns of its own.
_PLAIN = "/apis/rbac.authorization.k8s.io/v1/roles"


class Clock(Protocol):
    def now(self) -> datetime: ...


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(
        files(__package__).joinpath("columns.json").read_bytes()
    )
    return found


def included(ask: Ask) -> str:
    """How much of an object its row holds: None, Metadata or Object."""
    said = ask.parameter("includeObject")
    if said not in ("", "None", "Metadata", "Object"):
        error = invalid("includeObject", said, "must be 'Metadata', 'Object', 'None', or empty")
        raise bad_request(f"Unable to convert to Table as requested: {error}")
    return said or "Metadata"


class Tables:
    """Makes tables; ages in them are by `clock`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def of(
        self, served: Served, objects: Sequence[Object], ask: Ask, form: Form, metadata: Object
    ) -> Object:
        """A list, or an object alone: then `metadata` is empty, and the object's version counts."""
        if not metadata and len(objects) == 1:
            metadata = _version_of(objects[0])
        rows = self._rows(served, objects, included(ask), form.version)
        return _table(form.version, metadata, columns(served), rows)

    def watcher(
        self,
        served: Served,
        ask: Ask,
        form: Form,
        read: Callable[[Served, Record], Object],
    ) -> Callable[[Event], bytes]:
        """Writes the events of one watch: a row each, columns in the first only."""
        include, started = included(ask), False

        def shape(record: Record) -> bytes:
            obj = read(served, record)
            rows = self._rows(served, [obj], include, form.version)
            shown = None if started else columns(served)
            return msgspec.json.encode(_table(form.version, _version_of(obj), shown, rows))

        def told(event: Event) -> bytes:
            nonlocal started
            key = (TABLE, form.version, include, started, served.api_version)
            line = event.shaped(key, shape)
            started = True
            return line

        return told

    def bookmark(self, served: Served, obj: Object, ask: Ask, form: Form) -> Object:
        rows = self._rows(served, [obj], included(ask), form.version)
        return _table(form.version, _version_of(obj), None, rows)

    def _rows(
        self, served: Served, objects: Sequence[Object], include: str, version: str
    ) -> list[Object] | None:
        cells, now = cells_of(served), self._clock.now()
        pods = served.kind == "Pod" and not served.custom
        rows = []
        for obj in objects:
            row: Object = {"cells": cells(obj, now)}
            ended = conditions(obj) if pods else None
            if ended:
                row["conditions"] = ended
            row["object"] = _included(obj, include, version)
            rows.append(row)
        # Go's empty list, of kinds without a printer, is none.
        return rows or (None if cells is dated else [])


def _table(
    version: str,
    metadata: Object,
    shown: Sequence[Column] | None,
    rows: list[Object] | None,
) -> Object:
    return {
        "kind": TABLE,
        "apiVersion": f"{META}/{version}",
        "metadata": metadata,
        "columnDefinitions": shown,
        "rows": rows,
    }


def _version_of(obj: Object) -> Object:
    version = obj["metadata"].get("resourceVersion")
    return {"resourceVersion": version} if version else {}


def _included(obj: Object, include: str, version: str) -> Object | None:
    if include == "None":
        return None
    return partial(obj, version) if include == "Metadata" else obj


def partial(obj: Object, version: str = "v1") -> Object:
    """The metadata of an object alone."""
    return {"kind": PARTIAL, "apiVersion": f"{META}/{version}", "metadata": obj["metadata"]}


def partial_list(objects: Sequence[Object], metadata: Object, version: str = "v1") -> Object:
    return {
        "kind": PARTIAL_LIST,
        "apiVersion": f"{META}/{version}",
        "metadata": metadata,
        "items": [partial(each, version) for each in objects],
    }


def is_list(served: Served) -> Refusal:
    """Metadata of one object was asked for, and there are many."""
    message = f"you requested {PARTIAL}, but the requested object is a list"
    return Refusal(406, "NotAcceptable", f"{message} ({_go_type(served, served.list_kind)})")


def is_no_list(served: Served) -> Refusal:
    message = f"you requested {PARTIAL_LIST}, but the requested object is not a list"
    return Refusal(406, "NotAcceptable", f"{message} ({_go_type(served, served.kind)})")


def _go_type(served: Served, kind: str) -> str:
    if served.custom:
        return f"*unstructured.Unstructured{'List' if kind == served.list_kind else ''}"
    return f"*{served.group.split('.')[0] or 'core'}.{kind}"


def columns(served: Served) -> Sequence[Column]:
    if served.custom:
        return _custom_columns(served)
    prefix = f"/apis/{served.group}" if served.group else "/api"
    return _recorded(f"{prefix}/{served.version}/{served.plural}") or _recorded(_PLAIN)


def _recorded(path: str) -> list[Column]:
    known = _data()["columns"]
    return [known[place] for place in _data()["resources"].get(path, ())]


def _named_and(dated_as: str) -> list[Column]:
    """Name and time of creation, described as of any object."""
    name, created = _recorded(_PLAIN)
    return [name, {**created, "name": dated_as}]


def _custom_columns(served: Served) -> list[Column]:
    if not served.columns:
        return _named_and("Age")
    shown = [
        {
            "name": column["name"],
            "type": column["type"],
            "format": column.get("format", ""),
            "description": column.get("description")
            or f"Custom resource definition column (in JSONPath format): {column['jsonPath']}",
            "priority": column.get("priority", 0),
        }
        for column in served.columns
    ]
    return [_recorded(_PLAIN)[0], *shown]


def cells_of(served: Served) -> Cells:
    if not served.custom:
        return BUILT_IN.get((served.group, served.kind), dated)
    if not served.columns:
        return plain
    found = [(JSONPath(each["jsonPath"]), str(each["type"])) for each in served.columns]

    def cells(obj: Object, now: datetime) -> list[Any]:
        shown = [obj["metadata"].get("name", "")]
        for path, kind in found:
            values = path.find(obj)
            shown.append(_cell(kind, values[0], now) if values else None)
        return shown

    return cells


def _cell(kind: str, value: Any, now: datetime) -> Any:
    """A value as its column's type has it, None where it cannot be shown as that."""
    if kind == "string":
        return _text(value)
    if value is None:
        return None
    if kind == "date":
        return _date(value, now) if isinstance(value, str) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if kind == "integer" else float(value)


def _date(value: str, now: datetime) -> str:
    moment = parsed(value)
    return INVALID if moment is None else human((now - moment).total_seconds())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:g}" if abs(value) < 1e21 else repr(value)
    return msgspec.json.encode(value, order="sorted").decode()
