# SPDX-License-Identifier: Apache-2.0
"""Reading fields: `a.b`, `a.?b`, `has(a.b)`, of objects, maps, optional values and of anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trellis.cel import types
from trellis.cel.problems import EvaluationProblem
from trellis.cel.shapes import Admit, admitter
from trellis.cel.values import MISSING, NOTHING, Optional, some

if TYPE_CHECKING:
    from trellis.cel.tree import Select
    from trellis.cel.types import Type

Run = Callable[[list[Any]], Any]
Read = Callable[[Any], Any]


def selection(node: Select, operand: Run) -> Run:
    """What reads the field of a node whose operand is already compiled."""
    wrapped = types.is_optional(node.operand.type)
    target = node.operand.type.params[0] if wrapped else node.operand.type
    read = _reader(target, node.name)
    if node.test:
        return _presence(operand, read)
    if wrapped or node.optional:
        return _optional(operand, read)
    name = node.name
    admit = _field_admit(target, name)
    key = _key(target, name)
    absent_is_none = target.kind == "struct"

    def select(frame: list[Any]) -> Any:
        value = operand(frame)
        # The common case, without a call.
        if type(value) is dict:
            found = value.get(key, MISSING)
            if found is MISSING or (found is None and absent_is_none):
                raise EvaluationProblem(f"no such key: {name}")
            return admit(found) if admit else found
        found = read(value)
        if isinstance(value, Optional):
            return NOTHING if found is MISSING else some(found)
        if found is MISSING:
            raise EvaluationProblem(f"no such key: {name}")
        return found

    return select


def _key(target: Type, name: str) -> str:
    found = target.shape.fields.get(name) if target.kind == "struct" and target.shape else None
    return found.key if found else name


def _field_admit(target: Type, name: str) -> Admit | None:
    if target.kind == "struct" and target.shape:
        found = target.shape.fields.get(name)
        return admitter(found.type) if found else None
    return None


def _reader(target: Type, name: str) -> Read:
    """Reads the field from any value, or says that it is MISSING."""
    key, admit = _key(target, name), _field_admit(target, name)
    absent_is_none = target.kind == "struct"

    def read(value: Any) -> Any:
        if isinstance(value, Optional):
            return read(value.value) if value.present else MISSING
        if isinstance(value, Mapping):
            try:
                found = value[key]
            except KeyError:
                return MISSING
            if found is None and absent_is_none:
                return MISSING
            return admit(found) if admit else found
        if isinstance(value, list):
            raise EvaluationProblem("unsupported index type 'string' in list")
        return MISSING

    return read


def _presence(operand: Run, read: Read) -> Run:
    return lambda frame: read(operand(frame)) is not MISSING


def _optional(operand: Run, read: Read) -> Run:
    def select(frame: list[Any]) -> Optional:
        found = read(operand(frame))
        return NOTHING if found is MISSING else some(found)

    return select
