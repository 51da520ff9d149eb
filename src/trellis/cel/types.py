# SPDX-License-Identifier: Apache-2.0
"""The types of CEL, and when one may stand where another is wanted.

A type is a kind, a name and parameters; what a schema adds (fields, limits) hangs on `shape` and
takes no part in comparing types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.cel.shapes import Shape

Substitution = dict["Type", "Type"]


@dataclass(frozen=True, slots=True)
class Type:
    kind: str
    name: str
    params: tuple[Type, ...] = ()
    shape: Shape | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """As the compiler's messages write it."""
        if not self.params:
            return _WRITTEN.get(self.kind, self.name)
        return f"{self.name}({', '.join(map(str, self.params))})"

    @property
    def declared(self) -> str:
        """As messages about the type of a whole expression write it."""
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(param.declared for param in self.params)})"


_WRITTEN = {"null": "null", "timestamp": "timestamp", "duration": "duration", "error": "!error!"}

BOOL = Type("bool", "bool")
INT = Type("int", "int")
UINT = Type("uint", "uint")
DOUBLE = Type("double", "double")
STRING = Type("string", "string")
BYTES = Type("bytes", "bytes")
NULL = Type("null", "null_type")
TIMESTAMP = Type("timestamp", "google.protobuf.Timestamp")
DURATION = Type("duration", "google.protobuf.Duration")
DYN = Type("dyn", "dyn")
ERROR = Type("error", "error")
TYPE = Type("type", "type")

_BY_NAME = {
    **{kind.name: kind for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, DYN, TYPE)},
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "IP": Type("opaque", "net.IP"),
    "CIDR": Type("opaque", "net.CIDR"),
    "Quantity": Type("struct", "kubernetes.Quantity"),
    "URL": Type("struct", "kubernetes.URL"),
    "Semver": Type("struct", "kubernetes.Semver"),
    "Format": Type("struct", "kubernetes.NamedFormat"),
    "Authorizer": Type("struct", "kubernetes.authorization.Authorizer"),
    "PathCheck": Type("struct", "kubernetes.authorization.PathCheck"),
    "GroupCheck": Type("struct", "kubernetes.authorization.GroupCheck"),
    "ResourceCheck": Type("struct", "kubernetes.authorization.ResourceCheck"),
    "Decision": Type("struct", "kubernetes.authorization.Decision"),
}
# Kinds that null may stand for.
_NULLABLE = {"opaque", "struct", "timestamp", "duration", "any"}
_TOKEN = re.compile(r"\s*(\w+|[<>,])")


def list_of(item: Type, shape: Shape | None = None) -> Type:
    return Type("list", "list", (item,), shape)


def map_of(key: Type, value: Type, shape: Shape | None = None) -> Type:
    return Type("map", "map", (key, value), shape)


def optional_of(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    return Type("type", "type", (value,))


def is_optional(given: Type) -> bool:
    return given.name == "optional_type" and given.kind == "opaque"


@cache
def named(text: str) -> Type:
    """The type that a declaration of ours names: `int`, `list<A>`, `map<string, dyn>`, `A`."""
    return _read(_TOKEN.findall(text))


def _read(tokens: list[str]) -> Type:
    name = tokens.pop(0)
    params: list[Type] = []
    if tokens and tokens[0] == "<":
        while tokens.pop(0) != ">":
            params.append(_read(tokens))
    match name:
        case "list":
            return list_of(params[0])
        case "map":
            return map_of(params[0], params[1])
        case "optional":
            return optional_of(*params)
        case "type" if params:
            return type_of(*params)
        case "params":
            return Type("params", "", tuple(params))
    return _BY_NAME.get(name) or Type("param", name)


def is_dyn(given: Type) -> bool:
    return given.kind == "dyn"


def assignable(known: Substitution, first: Type, second: Type) -> Substitution | None:
    """What is known of type variables once the two are taken for the same, or None if not."""
    extended = dict(known)
    return extended if _fits(extended, first, second) else None


def all_assignable(
    known: Substitution, first: list[Type], second: list[Type]
) -> Substitution | None:
    if len(first) != len(second):
        return None
    extended = dict(known)
    if all(_fits(extended, one, other) for one, other in zip(first, second, strict=True)):
        return extended
    return None


def _fits(known: Substitution, first: Type, second: Type) -> bool:
    if second.kind == "param":
        valid, decided = _substitutes(known, first, second)
        if valid or decided:
            return valid
    if first.kind == "param":
        return _substitutes(known, second, first)[0]
    if {first.kind, second.kind} & {"dyn", "error"}:
        return True
    if first.kind == "null":
        return second.kind in _NULLABLE or second.kind == "null"
    if second.kind == "null":
        return first.kind in _NULLABLE
    return _same_kind_fits(known, first, second)


def _same_kind_fits(known: Substitution, first: Type, second: Type) -> bool:
    if first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    if first.kind in {"opaque", "list", "map"}:
        return (
            first.name == second.name
            and len(first.params) == len(second.params)
            and all(
                _fits(known, one, other)
                for one, other in zip(first.params, second.params, strict=True)
            )
        )
    return first == second


def _substitutes(known: Substitution, given: Type, variable: Type) -> tuple[bool, bool]:
    """Whether the variable may stand for the type, and whether it stood for something before."""
    if given == variable:
        return True, True
    before = known.get(variable)
    if before is not None:
        if given == before:
            return True, True
        if not _fits(known, given, before):
            return False, True
        general = more_general(given, before)
        if not _mentions(known, variable, general):
            known[variable] = general
        return True, True
    if not _mentions(known, variable, given):
        known[variable] = given
        return True, False
    return False, False


def _mentions(known: Substitution, variable: Type, within: Type) -> bool:
    if variable == within:
        return True
    if within.kind == "param":
        before = known.get(within)
        return before is not None and _mentions(known, variable, before)
    return any(_mentions(known, variable, param) for param in within.params)


def more_general(first: Type, second: Type) -> Type:
    return first if _less_specific(first, second) else second


def _less_specific(first: Type, second: Type) -> bool:
    if first.kind in {"dyn", "param"}:
        return True
    if second.kind in {"dyn", "param"} or first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    return (
        first.name == second.name
        and len(first.params) == len(second.params)
        and all(map(_less_specific, first.params, second.params))
    )


def substituted(known: Substitution, given: Type, *, free_is_dyn: bool = False) -> Type:
    """The type with its variables replaced by what is known of them."""
    if given.kind == "param":
        meant = known.get(given)
        if meant is not None:
            return substituted(known, meant, free_is_dyn=free_is_dyn)
        return DYN if free_is_dyn else given
    if not given.params:
        return given
    params = tuple(substituted(known, param, free_is_dyn=free_is_dyn) for param in given.params)
    return Type(given.kind, given.name, params, given.shape)
