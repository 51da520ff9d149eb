# SPDX-License-Identifier: Apache-2.0
"""Equal parts of cached objects are one part: the pods of a group have the same labels and owners.

What is shared must never be changed in place. That holds for everything in a cache anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import msgspec
from msgspec import inspect, structs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Share: TypeAlias = Callable[[Any], Any]

T = TypeVar("T", bound=msgspec.Struct)

# Enough for the distinct parts of thousands of objects at a time, and a few megabytes at most.
MOST_PARTS = 1 << 15
# No two objects have these in common, so looking for an equal one is in vain.
_UNIQUE = frozenset({"name", "uid", "resource_version", "generate_name"})


def sharing(kind: type[T], most: int = MOST_PARTS) -> type[T]:
    """The same type, but its objects share their equal parts from the moment they are decoded.

    Not later: of a list that first lay in memory unshared, the holes would remain.
    """
    parts = _Parts(most)
    share = parts.of_whole(inspect.type_info(kind))
    inherited: Callable[[T], None] | None = getattr(kind, "__post_init__", None)

    def share_parts(self: T) -> None:
        if inherited:
            inherited(self)
        parts.keep_bound()
        share(self)

    def equals(self: T, other: object) -> bool:
        return isinstance(other, kind) and structs.astuple(self) == structs.astuple(other)

    body = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__post_init__": share_parts,
        # One that was read equals one that was built.
        "__eq__": equals,
        "__hash__": kind.__hash__,
    }
    return cast("type[T]", msgspec.defstruct(kind.__name__, (), bases=(kind,), namespace=body))


class _Parts:
    """The parts that are known, and for a type the function that shares them.

    They are remembered until there are too many, and then all forgotten: they live on in the
    objects that have them, and what is met again is soon known again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Three, because equal keys must mean equal parts: `{}` is found by `()`.
        self._parts: dict[Hashable, Any] = {}
        self._dicts: dict[Hashable, dict[str, Any]] = {}
        self._raws: dict[bytes, msgspec.Raw] = {}
        self._same = self._parts.setdefault

    def keep_bound(self) -> None:
        if len(self._parts) + len(self._dicts) + len(self._raws) > self._most:
            self._parts.clear()
            self._dicts.clear()
            self._raws.clear()

    def of_whole(self, info: inspect.Type) -> Share:
        """An object and its sections are its own; what lies in them is shared."""
        if not isinstance(info, inspect.StructType):
            raise TypeError(f"{info} is no struct, so nothing is known of its parts")
        shares = [
            (field, self._inside(field.type))
            if isinstance(field.type, inspect.StructType)
            else (field, self._of(field.type))
            for field in info.fields
        ]
        return _walk(shares)

    def _of(self, info: inspect.Type) -> Share | None:
        """How a value of that type is shared, if there is anything to share in it."""
        if isinstance(info, inspect.UnionType):
            return self._optional(info)
        share: Share | None = None
        if isinstance(info, inspect.StrType):
            share = self._string()
        elif isinstance(info, inspect.RawType):
            share = self._raw
        elif isinstance(info, inspect.DictType) and _is_plain(info):
            share = self._dict
        elif isinstance(info, inspect.StructType | inspect.VarTupleType):
            share = self._part(info)
        return share

    def _optional(self, info: inspect.UnionType) -> Share | None:
        others = [each for each in info.types if not isinstance(each, inspect.NoneType)]
        share = self._of(others[0]) if len(others) == 1 else None
        return share and (lambda value: None if value is None else share(value))

    def _inside(self, info: inspect.StructType | inspect.VarTupleType) -> Share:
        if isinstance(info, inspect.VarTupleType):
            each = self._of(info.item_type)
            return (lambda value: tuple([each(item) for item in value])) if each else _as_it_is
        return _walk(
            [(field, self._of(field.type)) for field in info.fields if field.name not in _UNIQUE]
        )

    def _part(self, info: inspect.StructType | inspect.VarTupleType) -> Share:
        inside = self._inside(info)
        if not _is_hashable(info):
            return inside
        parts = self._parts

        def share(value: Any) -> Any:
            found = parts.get(value)
            if found is None:
                found = parts[value] = inside(value)
            return found

        return share

    def _string(self) -> Share:
        same = self._same
        return lambda value: same(value, value)

    def _raw(self, value: msgspec.Raw) -> msgspec.Raw:
        # A raw value is a view that keeps the whole message alive which it came in.
        content = bytes(value)
        found = self._raws.get(content)
        if found is None:
            found = self._raws[content] = msgspec.Raw(content)
        return found

    def _dict(self, value: dict[str, Any]) -> dict[str, Any]:
        found = self._dicts.get(tuple(value.items()))
        if found is None:
            same = self._same
            found = {same(name, name): same(one, one) for name, one in value.items()}
            self._dicts[tuple(found.items())] = found
        return found


def _walk(shares: list[tuple[inspect.Field, Share | None]]) -> Share:
    fields = [(field.name, share, field.default) for field, share in shares if share]

    def walk(value: Any) -> Any:
        for name, share, default in fields:
            own = getattr(value, name)
            # A default is left out when the object is encoded, and known by being the same.
            if own is default:
                continue
            found = share(own)
            if found is not own:
                structs.force_setattr(value, name, found)
        return value

    return walk


def _as_it_is(value: Any) -> Any:
    return value


def _is_plain(info: inspect.DictType) -> bool:
    """Keys are strings; values are strings or integers, as amounts of resources are."""
    values = info.value_type
    kinds = values.types if isinstance(values, inspect.UnionType) else (values,)
    return isinstance(info.key_type, inspect.StrType) and all(
        isinstance(each, inspect.StrType | inspect.IntType) for each in kinds
    )


def _is_hashable(info: inspect.Type) -> bool:
    if isinstance(info, inspect.StructType):
        frozen = info.cls.__struct_config__.frozen
        return frozen and all(_is_hashable(field.type) for field in info.fields)
    if isinstance(info, inspect.VarTupleType):
        # Bare numbers are left out: `(1,)` equals `(True,)` and is not the same.
        strings_or_structs = isinstance(info.item_type, inspect.StrType | inspect.StructType)
        return strings_or_structs and _is_hashable(info.item_type)
    if isinstance(info, inspect.UnionType):
        kinds = [each for each in info.types if not isinstance(each, inspect.NoneType)]
        return len(kinds) == 1 and _is_hashable(kinds[0])
    return isinstance(info, _ATOMS)


_ATOMS = (inspect.StrType, inspect.IntType, inspect.BoolType, inspect.DateTimeType)
