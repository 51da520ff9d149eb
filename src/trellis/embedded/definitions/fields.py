# SPDX-License-Identifier: Apache-2.0
"""The fields that objects can be selected by, and how each is found in an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trellis.embedded.definitions.jsonpath import parsed
from trellis.embedded.gotext import number
from trellis.embedded.natives.facts import selectable_fields

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Served

Value = Callable[["Object"], str]


def selectors(served: Served) -> Mapping[str, Value]:
    """By the name a field selector uses; beside metadata.name and metadata.namespace."""
    if not served.custom:
        return selectable_fields(served.group, served.kind)
    return {name: _value(f".{name}") for name in served.selectable}


def _value(path: str) -> Value:
    found = parsed(path)
    return lambda obj: _text(found.first(obj))


def _text(value: Any) -> str:
    """As Go prints it; nothing for what is not there."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, int | float) else str(value)
