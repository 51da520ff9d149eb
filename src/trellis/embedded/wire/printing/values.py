# SPDX-License-Identifier: Apache-2.0
"""What many rows have in common: names, ages, selectors, containers, lists cut short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from trellis.embedded.wire.printing.ages import since

Object = dict[str, Any]
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


def selector_text(selector: Object | None) -> str:
    """A selector as queries write it, sorted by key; empty for none and for everything."""
    terms = [
        (key, f"{key}={value}") for key, value in at(selector, "matchLabels", default={}).items()
    ]
    for each in at(selector, "matchExpressions", default=()):
        terms.append((each["key"], _expression(each)))
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def _expression(each: Object) -> str:
    key, operator = str(each["key"]), str(each.get("operator"))
    values = ",".join(sorted(each.get("values") or ()))
    return {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }.get(operator, "<error>")


def containers(obj: Object, *path: str) -> tuple[str, str]:
    listed = at(obj, *path, "containers", default=())
    names = ",".join(str(each.get("name", "")) for each in listed)
    return names, ",".join(str(each.get("image", "")) for each in listed)


def template(obj: Object) -> tuple[str, str]:
    return containers(obj, "spec", "template", "spec")


def some(items: Sequence[str], most: int = 3, empty: str = UNSET, sep: str = ",") -> str:
    shown = sep.join(items[:most])
    return f"{shown} + {len(items) - most} more..." if len(items) > most else shown or empty


def holds(obj: Object, kind: str) -> bool:
    for each in at(obj, "status", "conditions", default=()):
        if each.get("type") == kind:
            return bool(each.get("status") == "True")
    return False


def plain(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), age(obj, now)]


def dated(obj: Object, _: datetime) -> list[Any]:
    """Kinds for which the server has no printer: when they were made, as they say it."""
    return [name(obj), obj["metadata"].get("creationTimestamp") or ""]


def texts(*paths: str, default: str = "") -> Cells:
    """The name, some fields as they are, the age."""

    def cells(obj: Object, now: datetime) -> list[Any]:
        shown = [at(obj, *path.split("."), default=default) for path in paths]
        return [name(obj), *shown, age(obj, now)]

    return cells


def counted(*path: str) -> Cells:
    def cells(obj: Object, now: datetime) -> list[Any]:
        return [name(obj), len(at(obj, *path, default=())), age(obj, now)]

    return cells


def default_mark(obj: Object, annotations: Iterable[str]) -> str:
    said = obj["metadata"].get("annotations") or {}
    return " (default)" if any(said.get(name) == "true" for name in annotations) else ""
