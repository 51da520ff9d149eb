# SPDX-License-Identifier: Apache-2.0
"""From the body of a request to an object: typed for built-in kinds, pruned for custom ones.

All that is refused here is refused with 400 and in the words of the real server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from trellis.embedded.copying import copied
from trellis.embedded.gotext import json_kind
from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.schema import node as nodes
from trellis.embedded.schema.coerce import coerce
from trellis.embedded.schema.prune import OBJECT_FIELDS
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json
from trellis.embedded.schema.typed import Reading, Repeated, Where, typed

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.schema.node import Node

YAML = "application/yaml"
OTHER_VERSIONS = "versions"
"""Where the node of a custom kind keeps the nodes of all its versions, by name."""
_SHOWN = 30
_HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
# Where the scheme of the real server is made, which its messages name.
_SCHEMES = {"apiextensions.k8s.io": "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:53"}
_SCHEME = "pkg/runtime/scheme.go:111"


class Kind(Protocol):
    """What a body must be: a `Served`, or whatever a subresource takes."""

    @property
    def group(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def schema(self) -> Node: ...
    @property
    def custom(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Decoded:
    object: Object
    problems: list[str] = field(default_factory=list)
    """What a warning says of unknown and repeated fields, each."""
    refusal: Refusal | None = None
    """To be raised once the problems were told."""


def decode(body: bytes, kind: Kind, mode: str = "Warn", media_type: str = "") -> Decoded:
    """`mode` is the level of field validation: Ignore, Warn or Strict (which raises)."""
    strict: list[str] = []
    try:
        if media_type == YAML:
            from trellis.embedded.schema.yamltext import from_yaml  # noqa: PLC0415 - rare, slow

            value, strict = from_yaml(body)
        else:
            try:
                value = from_json(body, watch_keys=mode != "Ignore", untyped=kind.custom)
            except Undecodable as error:
                raise _no_head(str(error)) from error
        head = _head(value)
    except Undecodable as error:
        raise unrecognized(kind, str(error), body) from error
    if kind.custom and not head.kind:
        raise _kindless(kind, body, mode)
    decoded = _custom(value, head, kind) if kind.custom else _native(value, head, kind)
    problems = strict + decoded.problems
    if mode == "Strict" and problems:
        in_yaml = ["\n  ".join(["yaml: unmarshal errors:", *strict])] if strict else []
        said = ", ".join(in_yaml + decoded.problems)
        raise _unfit(head, kind, f"strict decoding error: {said}")
    return Decoded(decoded.object, problems if mode == "Warn" else [], decoded.refusal)


def check_head(value: Any) -> None:
    """Raises Undecodable if it is no object, or says what it is otherwise than by texts."""
    _head(value)


def settled(value: Any, kind: Kind) -> tuple[Object, list[str]]:
    """The same of an object that is no text: what a patch, a webhook or protobuf made.

    Returns it with the problems; raises Undecodable with what is wrong.
    """
    return _settle(copied(value) if kind.custom else value, kind)


def _settle(value: Any, kind: Kind) -> tuple[Object, list[str]]:
    """The same, of a value that may be changed."""
    if not kind.custom:
        cleared = _clears_owners(value)
        obj, problems = typed(kind.schema, value)
        obj["apiVersion"], obj["kind"] = _api_version(kind), kind.kind
        if cleared:
            obj["metadata"]["managedFields"] = []
        return obj, problems
    repeated: list[str] = []
    obj = _without_repeated(value, None, repeated)
    return obj, repeated + [f'unknown field "{path}"' for path in coerce(kind.schema, obj)]


def _clears_owners(value: Any) -> bool:
    """An empty list of managed fields says to be rid of them; any other empty list says nothing."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and metadata.get("managedFields") == []


@dataclass(frozen=True, slots=True)
class _Head:
    """What a body says it is."""

    group: str
    version: str
    kind: str


def _head(value: Any) -> _Head:
    if value is None:
        return _Head("", "", "")
    if not isinstance(value, dict):
        raise _no_head(f"json: cannot unmarshal {json_kind(value)} into Go value of type {_HEAD}")
    found = []
    for name in ("apiVersion", "kind"):
        said = value.get(name) or ""
        if type(value.get(name)) not in (str, type(None)):
            said = json_kind(value[name])
            place = f"Go struct field .{name} of type string"
            raise _no_head(f"json: cannot unmarshal {said} into {place}")
        found.append(said)
    group, slash, version = found[0].rpartition("/")
    if "/" in group or (slash and not group and not version):
        raise Undecodable(f"unexpected GroupVersion string: {found[0]}")
    return _Head(group, version, found[1])


def _no_head(why: str) -> Undecodable:
    return Undecodable(f"couldn't get version/kind; json parse error: {why}")


def _native(value: Any, head: _Head, kind: Kind) -> Decoded:
    group, version = head.group, head.version
    if not group and not version:
        group, version = kind.group, kind.version
    said = _Head(group, version or kind.version, head.kind or kind.kind)
    if said == _Head(kind.group, kind.version, kind.kind):
        try:
            return Decoded(*_settle(value, kind))
        except Undecodable as error:
            raise _unfit(said, kind, str(error)) from error
    raise _other_kind(value, said, kind)


def _other_kind(value: Any, said: _Head, kind: Kind) -> Refusal:
    """A body of another kind is first read as what it says it is, and may fail at that."""
    api_version = f"{said.group}/{said.version}" if said.group else said.version
    try:
        node = nodes.native_of(said.group, said.version, said.kind)
    except KeyError:
        scheme = _SCHEMES.get(kind.group, _SCHEME)
        why = (
            f'no kind "{said.kind}" is registered for version "{api_version}" in scheme "{scheme}"'
        )
        return _unfit(said, kind, why)
    try:
        typed(node, value)
    except Undecodable as error:
        return _unfit(said, kind, str(error))
    if (said.group, said.kind) == (kind.group, kind.kind):
        return _other_version(api_version, kind)
    inner = kind.group.split(".")[0] or "core"
    why = f"converting ({said.version}.{said.kind}) to ({inner}.{kind.kind}): unknown conversion"
    return _unfit(said, kind, why)


def _kindless(kind: Kind, body: bytes, mode: str) -> Refusal:
    why = f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'"
    if mode == "Ignore":
        return _unfit(_Head(kind.group, kind.version, kind.kind), kind, why)
    return unrecognized(kind, why, body)


def _custom(value: Any, head: _Head, kind: Kind) -> Decoded:
    refusal = None
    if (head.group, head.version) != (kind.group, kind.version):
        refusal = _other_version(value.get("apiVersion") or "", kind)
        if head.group == kind.group and head.kind == kind.kind:
            return Decoded(value, _unknown_elsewhere(value, head, kind), refusal)
        return Decoded(value, [], refusal)
    if head.kind != kind.kind:
        # It is refused later, for its kind; until then nothing of it is looked at but metadata.
        return Decoded(_without_repeated(value, None, []))
    try:
        return Decoded(*_settle(value, kind))
    except Undecodable as error:
        raise _unfit(head, kind, str(error)) from error


def _unknown_elsewhere(value: Any, head: _Head, kind: Kind) -> list[str]:
    """What a schema of another version does not know; a version that is not there knows nothing."""
    other = kind.schema.plans.get(OTHER_VERSIONS, {}).get(head.version)
    if other is None:
        return [f'unknown field "{name}"' for name in sorted(set(value) - OBJECT_FIELDS)]
    return [f'unknown field "{path}"' for path in coerce(other, copied(value))]


def _without_repeated(value: Any, where: Where, found: list[str]) -> Any:
    """The value in plain dicts. Only a text in which a key is repeated has any others."""
    if where is None and type(value) is not Repeated:
        return value
    if isinstance(value, dict):
        reading = Reading()
        for name in value.keys_repeated if type(value) is Repeated else ():
            reading.repeated(where, name)
        found += reading.problems
        return {n: _without_repeated(each, (where, "", n), found) for n, each in value.items()}
    if type(value) is list:
        return [_without_repeated(each, (where, "", n), found) for n, each in enumerate(value)]
    return value


def _api_version(kind: Kind) -> str:
    return f"{kind.group}/{kind.version}" if kind.group else kind.version


def _other_version(said: str, kind: Kind) -> Refusal:
    return bad_request(
        f"the API version in the data ({said}) does not match the expected API version "
        f"({_api_version(kind)})"
    )


def _unfit(said: _Head, kind: Kind, why: str) -> Refusal:
    version = said.version or kind.version
    return bad_request(
        f'{said.kind or kind.kind} in version "{version}" cannot be handled as a {kind.kind}: {why}'
    )


def unrecognized(kind: Kind, why: str, body: bytes) -> Refusal:
    shown = body[:_SHOWN].decode("utf-8", "replace") if body[:1] == b"{" else body[:_SHOWN].hex()
    more = " ..." if len(body) > _SHOWN else ""
    return bad_request(
        f"the object provided is unrecognized (must be of type {kind.kind}): {why} "
        f"({shown + more if body else '<empty>'})"
    )
