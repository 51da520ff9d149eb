# SPDX-License-Identifier: Apache-2.0
"""OpenAPI v3: the real server's documents for built-in groups, and like ones for custom groups.

From `openapi.json.xz` (`trellis.lab.openapi`), read when the first client asks. kubectl asks for
the index and one document before it creates or applies anything.
"""

from __future__ import annotations

import hashlib
import lzma
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.served import Served

Schema = dict[str, Any]

ROOT = "/openapi/v3"
# The made-up group whose document is the model of every custom group's.
_GROUP, _VERSION = "zzgroup.example.com", "vzz"
_INSIDE, _OUTSIDE = "Zzinside", "Zzoutside"
_MODEL = f"apis/{_GROUP}/{_VERSION}"
_SCALE = "io.k8s.api.autoscaling.v1.Scale"
_EMBEDDED = "x-kubernetes-embedded-resource"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_API_VERSION = (
    "apiVersion defines the versioned schema of this representation of an object. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
)
_KIND = (
    "kind is a string value representing the type of this object. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
    "#types-kinds"
)


class Document(NamedTuple):
    data: bytes
    hash: str


@cache
def _documents() -> dict[str, msgspec.Raw]:
    packed = files(__package__).joinpath("openapi.json.xz").read_bytes()
    return msgspec.json.decode(lzma.decompress(packed), type=dict[str, msgspec.Raw])


@cache
def _native(path: str) -> Document:
    return _document(bytes(_documents()[path]))


def _document(data: bytes) -> Document:
    return Document(data, hashlib.sha512(data).hexdigest().upper())


class Documents:
    """The documents for one state of the registry. Pure, but for what it keeps."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._customs: dict[str, list[Served]] = {}
        for each in served:
            if each.custom:
                self._customs.setdefault(f"apis/{each.group}/{each.version}", []).append(each)
        self._made: dict[str, Document] = {}

    def index(self) -> bytes:
        """GET /openapi/v3: where each document is, with the hash of what it holds."""
        paths = {
            path: {"serverRelativeURL": f"{ROOT}/{path}?hash={document.hash}"}
            for path in (*_documents(), *self._customs)
            if path != _MODEL
            for document in (self.document(path),)
            if document is not None
        }
        return msgspec.json.encode({"paths": paths}) + b"\n"

    def document(self, path: str) -> Document | None:
        """By its path below /openapi/v3, None if there is none."""
        if path in self._made:
            return self._made[path]
        if path in self._customs:
            found = self._made[path] = _document(_custom(self._customs[path]))
            return found
        return _native(path) if path in _documents() and path != _MODEL else None


@cache
def _model() -> Schema:
    found: Schema = msgspec.json.decode(_documents()[_MODEL])
    return found


def _custom(kinds: list[Served]) -> bytes:
    """One document of all kinds of a group version."""
    kinds = sorted(kinds, key=lambda each: each.plural)
    paths: Schema = {}
    own: Schema = {}
    for served in kinds:
        paths |= _paths(served)
        own |= _components(served)
    model = _model()
    scaled = any("scale" in served.subresources for served in kinds)
    shared = {
        name: schema
        for name, schema in model["components"]["schemas"].items()
        if _GROUP not in str(schema.get("x-kubernetes-group-version-kind", ""))
        and (scaled or not name.startswith(_SCALE))
    }
    schemas = dict(sorted({**shared, **own}.items()))
    return msgspec.json.encode(
        {**model, "paths": dict(sorted(paths.items())), "components": {"schemas": schemas}}
    )


def _paths(served: Served) -> Schema:
    model = _INSIDE if served.namespaced else _OUTSIDE
    mark = f"/{model.lower()}s"
    found = {}
    for path, operations in _model()["paths"].items():
        _, marked, rest = path.partition(mark)
        subresource = rest.removeprefix("/{name}").removeprefix("/")
        if marked and (not subresource or subresource in served.subresources):
            found[path] = operations
    return _renamed(found, served, model)


def _components(served: Served) -> Schema:
    model = _INSIDE if served.namespaced else _OUTSIDE
    prefix = ".".join([*reversed(_GROUP.split(".")), _VERSION, model])
    schemas = _model()["components"]["schemas"]
    wanted = {name: schemas[name] for name in (prefix, f"{prefix}List")}
    renamed = list(_renamed(wanted, served, model).items())
    (name, of_kind), (list_name, of_list) = renamed
    whole = _published(served.schema.source)
    whole.setdefault("type", "object")
    properties = whole.setdefault("properties", {})
    whole["properties"] = {**properties, **of_kind["properties"]}
    whole = {**whole, **{key: value for key, value in of_kind.items() if key not in whole}}
    if served.selectable:
        fields = [{"fieldPath": field} for field in served.selectable]
        whole["x-kubernetes-selectable-fields"] = fields
        of_list["x-kubernetes-selectable-fields"] = fields
    return {name: whole, list_name: of_list}


def _published(schema: Schema) -> Schema:
    """A schema of a definition as clients see it: some shorthands are spelt out."""
    found = dict(schema)
    for keyword in ("properties",):
        if keyword in found:
            found[keyword] = {name: _published(inner) for name, inner in found[keyword].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(found.get(keyword), dict):
            found[keyword] = _published(found[keyword])
    if found.get(_INT_OR_STRING) and not ("anyOf" in found or "allOf" in found):
        found["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if found.get(_EMBEDDED):
        _embed(found)
    return found


def _embed(found: Schema) -> None:
    metadata = _model_metadata()
    found["properties"] = {
        **found.get("properties", {}),
        "apiVersion": {"description": _API_VERSION, "type": "string"},
        "kind": {"description": _KIND, "type": "string"},
        "metadata": metadata,
    }
    required = found.get("required", [])
    added = [name for name in ("kind", "apiVersion") if name not in required]
    found["required"] = [*required, *added]


def _model_metadata() -> Schema:
    prefix = ".".join([*reversed(_GROUP.split(".")), _VERSION, _INSIDE])
    found: Schema = _model()["components"]["schemas"][prefix]["properties"]["metadata"]
    return found


def _renamed(value: Schema, served: Served, model: str) -> Schema:
    """The model's words replaced by those of a kind; each occurs in its own places only."""
    group, version = served.group, served.version
    reverse = ".".join(reversed(group.split(".")))
    camel = "".join(_capital(part) for part in group.replace("-", ".").split("."))
    listed = served.list_kind
    pairs = (
        (f"{'.'.join(reversed(_GROUP.split('.')))}.{_VERSION}", f"{reverse}.{version}"),
        ("ZzgroupExampleComVzz", f"{camel}{_capital(version)}"),
        (f"zzgroupExampleCom_{_VERSION}", f"{camel[:1].lower()}{camel[1:]}_{version}"),
        (_GROUP, group),
        (f'"{_VERSION}"', f'"{version}"'),
        (f"/{_VERSION}/", f"/{version}/"),
        (f"{model}List", listed),
        (model, served.kind),
        (f"{model.lower()}s", served.plural),
    )
    text = msgspec.json.encode(value).decode()
    for old, new in pairs:
        text = text.replace(old, new)
    found: Schema = msgspec.json.decode(text)
    return found


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
