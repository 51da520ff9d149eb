# SPDX-License-Identifier: Apache-2.0
"""What many rows have in common: names, ages, selectors, containers, lists cut short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from trellis.embedded.natives.selectors import as_text
from trellis.embedded.wire.printing.ages import since

Object = dict[str, Any]
Cell = Callable[[Object, datetime], Any]
Cells = Callable[[Object, datetime], list[Any]]

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"


def at(value: Any, *path: str, default: Any = None) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return default
        value = value.get(name)
    return default if value is None else value


def name(obj: Object) -> str:
    return str(obj["metadata"].get("name", ""))


def age(obj: Object, now: datetime) -> str:
    return since(obj["metadata"].get("creationTimestamp"), now)


def labels_text(labels: dict[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def some(items: Sequence[str], most: int = 3, empty: str = UNSET, sep: str = ",") -> str:
    shown = sep.join(items[:most])
    return f"{shown} + {len(items) - most} more..." if len(items) > most else shown or empty


def holds(obj: Object, kind: str) -> bool:
    for each in at(obj, "status", "conditions", default=()):
        if each.get("type") == kind:
            return bool(each.get("status") == "True")
    return False


def dated(obj: Object, _: datetime) -> list[Any]:
    """Kinds for which the server has no printer: when they were made, as they say it."""
    return [name(obj), obj["metadata"].get("creationTimestamp") or ""]


def row(*cells: str | Cell) -> Cells:
    """The name, then what is at paths (behind a `=` what to show where nothing is), and the rest
    as functions tell it."""
    shown = [_at_path(each) if isinstance(each, str) else each for each in cells]
    return lambda obj, now: [name(obj), *(each(obj, now) for each in shown)]


def _at_path(written: str) -> Cell:
    path, _, default = written.partition("=")
    names, absent = path.split("."), int(default) if default.isdigit() else default
    return lambda obj, _: at(obj, *names, default=absent)


def count(path: str) -> Cell:
    names = path.split(".")
    return lambda obj, _: len(at(obj, *names, default=()))


def flag(path: str) -> Cell:
    names = path.split(".")
    return lambda obj, _: bool(at(obj, *names))


def shown(path: str, absent: str) -> Cell:
    """Whatever it is, as text."""
    names = path.split(".")
    return lambda obj, _: str(at(obj, *names, default=absent))


def listed(path: str, field: str) -> Cell:
    """A field of each container of the pods at a path."""
    names = path.split(".")

    def cell(obj: Object, _: datetime) -> str:
        found = at(obj, *names, "containers", default=())
        return ",".join(str(each.get(field, "")) for each in found)

    return cell


def pods_of(path: str) -> tuple[Cell, Cell]:
    return listed(path, "name"), listed(path, "image")


def selected(path: str, none: str = NONE) -> Cell:
    names = path.split(".")
    return lambda obj, _: as_text(at(obj, *names)) or none


def labelled(path: str) -> Cell:
    names = path.split(".")
    return lambda obj, _: labels_text(at(obj, *names))


def default_mark(cells: Cells, annotations: Iterable[str]) -> Cells:
    """Rows whose names say which is the default one."""

    def marked(obj: Object, now: datetime) -> list[Any]:
        said = obj["metadata"].get("annotations") or {}
        mark = " (default)" if any(said.get(name) == "true" for name in annotations) else ""
        first, *others = cells(obj, now)
        return [f"{first}{mark}", *others]

    return marked


plain = row(age)
