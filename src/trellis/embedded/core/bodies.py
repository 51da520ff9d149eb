# SPDX-License-Identifier: Apache-2.0
"""From what a client sent to the object it meant, and what is said of it on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded import refusals
from trellis.embedded.copying import copied
from trellis.embedded.core.writing import tell
from trellis.embedded.fielderrors import invalid
from trellis.embedded.patches import Decoded as Patch
from trellis.embedded.patches import not_restorable, refused_result
from trellis.embedded.schema.decode import check_head, decode, settled, unrecognized
from trellis.embedded.schema.node import Node, native_of
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.written import patched_text
from trellis.embedded.wire import protobuf
from trellis.embedded.wire.media import PROTOBUF, YAML, read_type

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.core.world import Call
    from trellis.embedded.schema.decode import Decoded, Kind
    from trellis.embedded.served import Served
    from trellis.embedded.wire.options import WriteOptions


_NO_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a subresource takes, where that is not the object itself."""

    group: str
    version: str
    kind: str
    schema: Node
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What a patch of one of four forms made of an object."""

    form: str
    result: Object
    patch: Patch
    native: Node | None
    """The fields of its kind, if that is one of Kubernetes' own."""

    def refused(self, problems: list[str], *, strict: bool = True) -> refusals.Refusal:
        shown = self.patch.value
        if self.form != "strategic":
            shown = patched_text(self.result, self.native)
        return refused_result(self.form, shown, problems, strict)


_HEAD = ("apiVersion", "kind", "metadata")


class Bodies:
    def object(self, call: Call, options: WriteOptions) -> Object:
        """An object of the resource itself."""
        return self._read(call, call.served, options)

    def subobject(self, call: Call, options: WriteOptions) -> Object:
        """Whatever the subresource takes: a Scale, a Binding, a TokenRequest."""
        try:
            return self._read(call, kind_of(call), options)
        except refusals.Refusal:
            if call.served.custom and call.subresource == "scale":
                # The real server of custom kinds fails while it makes its message.
                raise refusals.bad_request(_NO_SCALE) from None
            raise

    def options(self, call: Call) -> Object | None:
        """The body of a DELETE, if there is one."""
        if not call.ask.body:
            return None
        kind = _Kind("", "v1", "DeleteOptions", native_of("", "v1", "DeleteOptions"))
        media = read_type(call.ask)
        if media == PROTOBUF:
            return self._from_protobuf(call, kind)
        try:
            found = msgspec.json.decode(call.ask.body) if media != YAML else None
        except (msgspec.DecodeError, RecursionError):
            found = None
        if isinstance(found, dict):
            named = found.get("kind") or "DeleteOptions"
            if named != "DeleteOptions":
                version = found.get("apiVersion") or "v1"
                raise refusals.bad_request(
                    f'no kind "{named}" is registered for version "{version}" in scheme '
                    '"pkg/runtime/scheme.go:111"'
                )
            # Anybody's apiVersion is taken: every group knows such options.
            found.pop("apiVersion", None)
            return found
        try:
            return decode(call.ask.body, kind, "Ignore", media).object
        except refusals.Refusal as refusal:
            # Of options it does not say what they were to be.
            _, _, why = refusal.message.partition("(must be of type DeleteOptions): ")
            raise refusals.bad_request(why.rpartition(" (")[0] or refusal.message) from None

    def patched(self, call: Call, made: Made, options: WriteOptions) -> Object:
        """What a patch made of an object, read as if it had been sent."""
        kind: Kind = kind_of(call) if call.subresource == "scale" else call.served
        try:
            check_head(made.result)
        except Undecodable as problem:
            raise made.refused([str(problem)], strict=False) from None
        _still(call, kind, made)
        if made.form == "strategic" and (why := not_restorable(kind.schema, made.result)):
            raise made.refused([why], strict=False)
        try:
            new, problems = _settled(made, kind)
        except Undecodable as problem:
            raise made.refused([str(problem)], strict=False) from None
        said = [*made.patch.problems, *problems]
        if options.field_validation == "Strict" and said:
            raise made.refused(said)
        if options.field_validation == "Warn":
            tell(call, said)
        return new

    def _read(self, call: Call, kind: Kind, options: WriteOptions) -> Object:
        media = read_type(call.ask)
        if media == PROTOBUF:
            return self._from_protobuf(call, kind)
        found: Decoded = decode(call.ask.body, kind, options.field_validation, media)
        call.warnings.extend(found.problems)
        if found.refusal is not None:
            raise found.refusal
        return found.object

    def _from_protobuf(self, call: Call, kind: Kind) -> Object:
        try:
            api_version, named, value = protobuf.decode(call.ask.body)
        except protobuf.Malformed as problem:
            raise unrecognized(kind, str(problem), call.ask.body) from None
        if named and named != kind.kind:
            raise refusals.bad_request(
                f'{named} in version "{api_version}" cannot be handled as a {kind.kind}: '
                f"converting ({api_version}.{named}) to ({kind.kind}): unknown conversion"
            )
        try:
            return settled(value, kind)[0]
        except Undecodable as problem:
            raise refusals.bad_request(str(problem)) from None


def kind_of(call: Call) -> Kind:
    """The kind that a subresource speaks, as discovery tells it."""
    told = call.served.subresources.get(call.subresource)
    if not told or told["kind"] == call.served.kind:
        return call.served
    group, version = told.get("group", call.served.group), told.get("version", call.served.version)
    return _Kind(group, version, told["kind"], native_of(group, version, told["kind"]))


def kind_served(call: Call) -> Served:
    """What a subresource speaks, as a resource of its own: its fields have owners too."""
    kind = kind_of(call)
    if kind is call.served:
        return call.served
    return replace(
        call.served,
        group=kind.group,
        version=kind.version,
        kind=kind.kind,
        schema=kind.schema,
        custom=False,
        subresources={},
    )


def _settled(made: Made, kind: Kind) -> tuple[Object, list[str]]:
    if made.form != "apply" or not kind.custom:
        return settled(made.result, kind)
    # Its fields were checked before they were merged; nulls stay for validation to see.
    head, problems = settled({name: made.result[name] for name in _HEAD}, kind)
    return copied(made.result) | head, problems


def _still(call: Call, kind: Kind, made: Made) -> None:
    """A patch may not make another kind of it."""
    expected = f"{kind.group}/{kind.version}" if kind.group else kind.version
    named, version = made.result.get("kind") or "", made.result.get("apiVersion") or ""
    if not kind.custom:
        if (named or kind.kind, version or expected) != (kind.kind, expected):
            shown = named or kind.kind
            why = f'no kind "{shown}" is registered for version "{version or expected}"'
            why = f'{why} in scheme "pkg/runtime/scheme.go:111"'
            raise made.refused([why], strict=False)
        return
    if not named:
        text = patched_text(made.result, None)
        raise made.refused([f"Object 'Kind' is missing in '{text}'"], strict=False)
    if version != expected:
        error = invalid("apiVersion", version, f"must be {expected}")
        raise refusals.invalid(version.rpartition("/")[0], kind.kind, call.name, [error])
