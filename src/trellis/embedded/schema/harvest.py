# SPDX-License-Identifier: Apache-2.0
"""Writes `go_types.json`: how Go declares the fields of built-in kinds, from Kubernetes' sources.

OpenAPI says neither which empty fields are left out of an answer nor what a refusal calls a type.
Run it with the folder of Go's modules, after the lab was built:
`python -m trellis.embedded.schema.harvest "$(go env GOMODCACHE)"`.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from trellis.api.schema import builtin

TARGET = Path(__file__).with_name("go_types.json")
# OpenAPI names definitions after the package, turned around: `k8s.io/api` is `io.k8s.api`.
_MODULES = ("api", "apimachinery", "apiextensions-apiserver", "kube-aggregator")
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_STRUCT_IN_GROUP = re.compile(r"^\t(\w+) struct \{\n(.*?)^\t\}", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r'^\s*(?:import )?(\w+)?\s*"([\w./-]+)"$', re.MULTILINE)
_FIELD = re.compile(r'^\s*(?:(\w+)\s+)?(\*?[\w.\[\]*]+)\s+`(?:[^`]*\s)?json:"([^"]*)"')
_NAME = re.compile(r"(?<![\w.])(?:(\w+)\.)?(\w+)(?![\w.])")
_BUILT_INTO_GO = frozenset(
    {"string", "bool", "byte", "map"}
    | {f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in ("", 8, 16, 32, 64)}
)


@dataclass(frozen=True, slots=True)
class _Package:
    path: str
    """Such as `k8s.io/api/core/v1`."""
    imports: dict[str, str]

    @property
    def short(self) -> str:
        return self.path.rpartition("/")[2]


def main(modules: Path) -> None:
    release = builtin.data()["kubernetes"]
    structs: dict[str, tuple[_Package, str]] = {}
    for module in _MODULES:
        root = modules / "k8s.io" / f"{module}@v0.{release.split('.', 1)[1]}"
        for file in sorted(root.rglob("*.go")):
            if not file.name.endswith("_test.go") and "testdata" not in file.parts:
                _collect(
                    file.read_text(), f"k8s.io/{module}/{file.parent.relative_to(root)}", structs
                )
    found = {
        name: _fields(_path(name), structs)
        for name in builtin.data()["definitions"]
        if _path(name) in structs
    }
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(fields, separators=(',', ':'))}"
        for name, fields in found.items()
        if fields
    )
    TARGET.write_text(f"{{\n{lines}\n}}\n")
    print(f"{TARGET.name}: {len(found)} types")  # noqa: T201


def _path(definition: str) -> str:
    """`io.k8s.api.core.v1.Pod` is `k8s.io/api/core/v1.Pod`."""
    package, _, name = definition.rpartition(".")
    return f"k8s.io/{package.removeprefix('io.k8s.').replace('.', '/')}.{name}"


def _collect(text: str, path: str, structs: dict[str, tuple[_Package, str]]) -> None:
    imports = {
        alias or target.rpartition("/")[2]: target for alias, target in _IMPORT.findall(text)
    }
    package = _Package(path, imports)
    for pattern in (_STRUCT, _STRUCT_IN_GROUP):
        for name, body in pattern.findall(text):
            structs.setdefault(f"{path}.{name}", (package, body))


def _fields(path: str, structs: dict[str, tuple[_Package, str]]) -> dict[str, str]:
    """Each field's type as Go prints it; `?` after it: left out when empty, `~`: when zero."""
    package, body = structs[path]
    found: dict[str, str] = {}
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match is None or match[3] == "-":
            continue
        tag, *options = match[3].split(",")
        if not tag:
            found |= _fields(_target(match[2], package), structs)
        else:
            left_out = "~" if "omitzero" in options else "?" if "omitempty" in options else ""
            found[tag] = _printed(match[2], package) + left_out
    return found


def _target(written: str, package: _Package) -> str:
    prefix, _, name = written.lstrip("*").rpartition(".")
    return f"{package.imports[prefix] if prefix else package.path}.{name}"


def _printed(written: str, package: _Package) -> str:
    def qualified(match: re.Match[str]) -> str:
        prefix, name = match.groups()
        if prefix:
            return f"{package.imports[prefix].rpartition('/')[2]}.{name}"
        return name if name in _BUILT_INTO_GO else f"{package.short}.{name}"

    return _NAME.sub(qualified, written).replace("[]byte", "[]uint8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
