# SPDX-License-Identifier: Apache-2.0
"""The structs of Kubernetes' Go packages: which field is which in JSON, in protobuf and in Go.

Text in, values out. It reads what gofmt writes of API types (one field a line, tags in backticks),
and is no parser of Go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_IMPORT = re.compile(r'^\s+(?:(\w+) )?"(k8s\.io/[^"]+)"$|^import (?:(\w+) )?"([^"]+)"$', re.M)
_STRUCT = re.compile(r"^type (\w+) struct ?\{(|\n.*?^)\}", re.M | re.S)
_NAMED = re.compile(r"^type (\w+) (?:= )?([\w.\[\]*]+)(?: *//.*)?$", re.M)
_FIELD = re.compile(r"^\t(?:(\w+)[ ]+)?([\w.\[\]*]+)[ ]+`([^`]*)`", re.M)
_TAG = re.compile(r'(\w+):"([^"]*)"')
# Named slices that are messages of their own: only these can be sized by value.
_WRAPPER = re.compile(r"^func \(m (\w+)\) Size\(\)", re.M)
_MAP = re.compile(r"map\[([\w.]+)\](.+)")
_NAME = re.compile(r"(?<![\w.])(?:(\w+)\.)?(\w+)(?![\w.])")

# The types that are written by hand in Go, by the letter that stands for them.
SPECIAL = {
    "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "t",
    "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": "m",
    "k8s.io/apimachinery/pkg/apis/meta/v1.Duration": "u",
    "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "r",
    "k8s.io/apimachinery/pkg/runtime.RawExtension": "r",
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "q",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "I",
    "k8s.io/apimachinery/pkg/types.UID": "s",
    "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "r",
}
BASIC = {
    **dict.fromkeys(("int", "int32", "int64", "uint16", "uint32", "uint64", "uint8"), "i"),
    **dict.fromkeys(("float32", "float64"), "d"),
    "string": "s",
    "bool": "b",
    "[]byte": "y",
}


class UnknownType(LookupError):
    """A field is of a type that none of the packages read declares."""


@dataclass(frozen=True, slots=True)
class Field:
    json: str
    number: int
    type: str
    """`s` string, `b` bool, `i` integer, `d` double, `y` bytes, `t` Time, `m` MicroTime,
    `u` Duration, `q` Quantity, `I` IntOrString, `r` raw JSON, else the name of a struct;
    before it `[` for a list, `{` for a map by string, `<` for a named list, itself a message."""
    flags: str
    """`p` pointer, `o` omitempty, `z` omitzero, `i` inline."""
    go: str
    """The type as Go prints it, behind the pointer: `map[string]v1.ExtraValue`."""


@dataclass(slots=True)
class Package:
    """One package, by its import path, with what its files declare."""

    path: str
    structs: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    wrappers: set[str] = field(default_factory=set)
    imports: dict[str, dict[str, str]] = field(default_factory=dict)
    """By declared name: each file has its own names for what it imports."""

    def read(self, text: str) -> None:
        imports = {}
        for alias, path, alone, single in _IMPORT.findall(text):
            found = path or single
            imports[alias or alone or found.rpartition("/")[2]] = found
        structs = dict(_STRUCT.findall(text))
        named = {name: of for name, of in _NAMED.findall(text) if of != "struct"}
        self.imports |= dict.fromkeys((*structs, *named), imports)
        self.structs |= structs
        self.named |= named
        self.wrappers |= set(_WRAPPER.findall(text))


def definition(path: str, name: str) -> str:
    """What OpenAPI calls a type: `io.k8s.api.core.v1.Pod`."""
    host, _, rest = path.partition("/")
    return ".".join([*reversed(host.split(".")), *rest.split("/"), name])


def fields(packages: Mapping[str, Package], path: str, name: str) -> Iterator[Field]:
    """The fields of a struct in order; those that neither form has are left out."""
    for given, of, tags in _FIELD.findall(packages[path].structs[name]):
        tag = dict(_TAG.findall(tags))
        json, *options = tag.get("json", "").split(",")
        number = int(tag["protobuf"].split(",")[1]) if "protobuf" in tag else 0
        if json == "-" or (not number and "inline" in options):
            continue
        flags = "".join(
            letter
            for letter, holds in (
                ("p", of.startswith("*")),
                ("o", "omitempty" in options),
                ("z", "omitzero" in options),
                ("i", not json and not given),
            )
            if holds
        )
        code = resolved(packages, (path, name), of.lstrip("*"))
        go = printed(packages[path], name, of.lstrip("*"))
        yield Field(json or given, number, code, flags, go)


def resolved(packages: Mapping[str, Package], where: tuple[str, str], of: str) -> str:
    """The code of a type as it is written in a declaration: its package's path and its name."""
    if of in BASIC:
        return BASIC[of]
    if of.startswith("[]"):
        return "[" + resolved(packages, where, of[2:].lstrip("*"))
    if (found := _MAP.fullmatch(of)) is not None:
        return "{" + resolved(packages, where, found[2].lstrip("*"))
    prefix, _, name = of.rpartition(".")
    path, inside = where
    home = packages[path].imports[inside][prefix] if prefix else path
    if (special := SPECIAL.get(f"{home}.{name}")) is not None:
        return special
    package = packages.get(home)
    if package is not None and name in package.structs:
        return definition(home, name)
    if package is None or name not in package.named:
        raise UnknownType(f"{of} in {path}: {home}.{name} is declared nowhere")
    under = resolved(packages, (home, name), package.named[name])
    return "<" + under[1:] if name in package.wrappers else under


def printed(package: Package, inside: str, of: str) -> str:
    """A type as Go prints it: by the last part of its package's path, whatever a file calls it."""

    def qualified(match: re.Match[str]) -> str:
        prefix, name = match.groups()
        if not prefix and (name in BASIC or name in ("byte", "map")):
            return name
        home = package.imports[inside][prefix] if prefix else package.path
        return f"{home.rpartition('/')[2]}.{name}"

    return _NAME.sub(qualified, of).replace("[]byte", "[]uint8")


def kinds(packages: Mapping[str, Package], path: str) -> list[str]:
    """The structs that are objects: they carry their kind and version inline."""
    return [
        name for name, body in packages[path].structs.items() if re.search(r"\bTypeMeta\s+`", body)
    ]
