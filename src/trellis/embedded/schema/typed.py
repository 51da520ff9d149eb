# SPDX-License-Identifier: Apache-2.0
"""Built-in kinds as Go's structs hold them: read with its refusals, written in its form.

A field of another type is refused, an unknown one dropped and named; what is empty and may be left
out is left out, what may not is written; quantities and times are written the canonical way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from trellis.embedded import gotypes
from trellis.embedded.copying import copied
from trellis.embedded.gotext import json_kind
from trellis.embedded.schema import scalars
from trellis.embedded.schema.node import native
from trellis.embedded.schema.scalars import Undecodable

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

# Where a value is: what it is in, the struct's name (empty in a list or map), its name or position.
Where = tuple[Any, str, str | int] | None
# The server stops looking after so many.
_MOST_PROBLEMS = 100
_INT_LIMITS = {"int32": 1 << 31, "int64": 1 << 63}


class Repeated(dict[str, Any]):
    """An object whose text had some keys more than once; the last value is the one kept."""

    __slots__ = ("keys_repeated",)

    def __init__(self, pairs: list[tuple[str, Any]], keys_repeated: frozenset[str]) -> None:
        super().__init__(pairs)
        self.keys_repeated = keys_repeated


class Reading:
    """What comes to light while one object is read."""

    __slots__ = ("mismatch", "problems")

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.mismatch = ""

    def unknown(self, where: Where, name: str) -> None:
        self._add(f'unknown field "{path_of((where, "", name))}"')

    def repeated(self, where: Where, name: str) -> None:
        self._add(f'duplicate field "{path_of((where, "", name))}"')

    def entries(self, value: Any, where: Where, go_type: str) -> Iterable[tuple[str, Any]]:
        """What an object holds; nothing where there is none. Keys there twice are noted."""
        if type(value) is Repeated:
            for name in sorted(value.keys_repeated):
                self.repeated(where, name)
        elif type(value) is not dict:
            if value is not None:
                self.mismatched(value, where, go_type)
            return ()
        held: dict[str, Any] = value
        return held.items()

    def mismatched(self, value: Any, where: Where, go_type: str) -> None:
        """The first one counts, and reading goes on: a malformed quantity behind it would win."""
        said = json_kind(value)
        if said == "number" and go_type in _INT_LIMITS:
            said = f"number {value!r}"
        self.fault(f"json: cannot unmarshal {said} into Go {_place(where)} of type {go_type}")

    def fault(self, message: str) -> None:
        self.mismatch = self.mismatch or message

    def _add(self, problem: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def path_of(where: Where) -> str:
    """`spec.containers[0].image`."""
    parts: list[str] = []
    while where is not None:
        where, _, name = where
        parts.append(f"[{name}]" if isinstance(name, int) else f".{name}")
    return "".join(reversed(parts)).removeprefix(".")


def _place(where: Where) -> str:
    """How Go names a place: the innermost struct, then the fields on the way, without indices."""
    names: list[str] = []
    innermost = ""
    while where is not None:
        where, struct, name = where
        if struct:
            innermost = innermost or struct
            names.append(str(name))
    return f"struct field {innermost}.{'.'.join(reversed(names))}" if names else "value"


Read = Callable[[Any, Where, Reading], Any]


def typed(node: Node, value: Any) -> tuple[Any, list[str]]:
    """The value as the server would hold it, and the names of fields that are unknown or repeated.

    Raises Undecodable for a value of another type than the field's.
    """
    reading = Reading()
    read = _struct(node)
    result = read(value, None, reading)
    if reading.mismatch:
        raise Undecodable(reading.mismatch)
    return result, reading.problems


def normalised(node: Node, value: Any) -> Any:
    """The same of an object made by us or a patch, whatever unknown fields it has."""
    return typed(node, value)[0]


class _Field(NamedTuple):
    read: Read
    kept_empty: bool
    """A pointer to nothing much is still something, and so is a struct."""


class _Struct:
    """Reads one type; its fields are worked out when the first value comes."""

    __slots__ = ("_always", "_fields", "go_type", "name", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        package, self.name = node.name.rsplit(".", 2)[-2:]
        self.go_type = f"{package}.{self.name}"
        self._fields: dict[str, _Field] | None = None
        self._always: list[tuple[str, Any]] = []

    def __call__(self, value: Any, where: Where, reading: Reading) -> dict[str, Any]:
        fields = self._fields if self._fields is not None else self._build()
        result: dict[str, Any] = {}
        struct = self.name
        for name, each in reading.entries(value, where, self.go_type):
            field = fields.get(name)
            if field is None:
                reading.unknown(where, name)
            elif each is not None:
                got = field.read(each, (where, struct, name), reading)
                if got or field.kept_empty:
                    result[name] = got
        for name, zero in self._always:
            if name not in result:
                result[name] = copied(zero)
        return result

    def _build(self) -> dict[str, _Field]:
        fields: dict[str, _Field] = {}
        for name, declared in gotypes.fields(self.node.name).items():
            node = self.node.properties[name]
            pointer = "p" in declared.flags
            read, zero = _reader(node, declared.go), _zero(node)
            struct = type(zero) is dict or bool(node.special)
            fields[name] = _Field(read, pointer or struct)
            if declared.left_out(struct):
                continue
            if pointer:
                self._always.append((name, None))
            elif type(zero) is dict:
                self._always.append((name, read({}, None, Reading())))
            else:
                self._always.append((name, zero))
        self._fields = fields
        return fields


_structs: dict[str, _Struct] = {}


def _struct(node: Node) -> _Struct:
    if node.name not in _structs:
        _structs[node.name] = _Struct(node)
    return _structs[node.name]


_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
_SPECIAL_ZEROS: dict[str, Any] = {"quantity": "0", "int-or-string": 0, "raw": None}


def _zero(node: Node) -> Any:
    """What Go has where nothing was given, as JSON shows it: times, lists and maps are null."""
    if node.special:
        return _SPECIAL_ZEROS.get(node.special)
    if node.type == "object" and node.name and node.additional is None:
        return {}
    return None if node.format == "byte" else _ZEROS.get(node.type)


def _reader(node: Node, go_type: str) -> Read:
    if node.special:
        return _SPECIALS[node.special]
    if node.type == "array":
        return _list(node, go_type)
    if node.type == "object":
        return _map(node, go_type) if node.additional else _struct(node)
    if node.format == "byte":
        return _bytes
    if node.type == "integer":
        return _integer(go_type)
    return _scalar(go_type, *_SCALARS[node.type])


_SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
}


def _scalar(go_type: str, *kinds: type) -> Read:
    zero = kinds[0]()

    def read(value: Any, where: Where, reading: Reading) -> Any:
        if type(value) in kinds:
            return value
        if value is not None:
            reading.mismatched(value, where, go_type)
        return zero

    return read


def _integer(go_type: str) -> Read:
    limit = _INT_LIMITS.get(go_type, 1 << 63)

    def read(value: Any, where: Where, reading: Reading) -> Any:
        if type(value) is int and -limit <= value < limit:
            return value
        if value is not None:
            reading.mismatched(value, where, go_type)
        return 0

    return read


def _list(node: Node, go_type: str) -> Read:
    item = _item(node.items, go_type)

    def read(value: Any, where: Where, reading: Reading) -> Any:
        if type(value) is list:
            return [item(each, (where, "", at), reading) for at, each in enumerate(value)]
        if value is not None:
            reading.mismatched(value, where, go_type)
        return None

    return read


def _item(node: Node | None, go_type: str) -> Read:
    return _raw if node is None else _reader(node, _item_type(node, go_type))


def _item_type(node: Node, go_type: str) -> str:
    """Of a list or map that has a name of its own, Go's own name for its items is not said."""
    for before in ("[]", "map[string]"):
        if go_type.startswith(before):
            return go_type.removeprefix(before).lstrip("*")
    if node.name:
        return ".".join(node.name.rsplit(".", 2)[-2:])
    return {"boolean": "bool", "integer": node.format, "array": "[]string"}.get(
        node.type, node.type
    )


def _map(node: Node, go_type: str) -> Read:
    item = _amount if go_type == "v1.ResourceList" else _item(node.additional, go_type)

    def read(value: Any, where: Where, reading: Reading) -> Any:
        entries = reading.entries(value, where, go_type)
        return {name: item(each, (where, "", name), reading) for name, each in entries}

    return read


def _bytes(value: Any, where: Where, reading: Reading) -> Any:
    if type(value) is not str:
        if value is not None:
            reading.mismatched(value, where, "[]uint8")
        return None
    try:
        return scalars.base64(value)
    except Undecodable as error:
        reading.fault(str(error))
        return None


def _amount(value: Any, where: Where, reading: Reading) -> Any:  # noqa: ARG001 - all readers look alike
    """Resources of pods, nodes and the like are counted in thousandths at the finest."""
    return "0" if value is None else scalars.quantity(value, -3)


def _raw(value: Any, where: Where, reading: Reading) -> Any:  # noqa: ARG001
    return value


def _own(parse: Callable[[Any], Any], zero: Any) -> Read:
    """What a type reads itself, it refuses itself: at once, and without saying where."""

    def read(value: Any, where: Where, reading: Reading) -> Any:  # noqa: ARG001
        return zero if value is None else parse(value)

    return read


def _schema_or_list(value: Any, where: Where, reading: Reading) -> Any:  # noqa: ARG001
    """A schema, or a list of schemas or names. Unknown keywords inside are not reported."""
    if isinstance(value, dict):
        return _nested_schema(value)
    if type(value) is not list:
        return None
    return [_nested_schema(each) if isinstance(each, dict) else each for each in value] or None


def _schema_or_bool(value: Any, where: Where, reading: Reading) -> Any:  # noqa: ARG001
    if isinstance(value, dict):
        return _nested_schema(value)
    if type(value) is not bool:
        raise Undecodable("boolean or JSON schema expected")
    return value


def _nested_schema(value: dict[str, Any]) -> Any:
    return normalised(native(_SCHEMA), value)


_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_SPECIALS: dict[str, Read] = {
    "quantity": _own(scalars.quantity, "0"),
    "int-or-string": _own(scalars.int_or_string, 0),
    "time": _own(scalars.time, None),
    "micro-time": _own(scalars.micro_time, None),
    "raw": _raw,
    "schema-or-array": _schema_or_list,
    "schema-or-bool": _schema_or_bool,
    "schema-or-strings": _schema_or_list,
}
