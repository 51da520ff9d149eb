# SPDX-License-Identifier: Apache-2.0
"""Refreshes `trellis/embedded/gotypes.json.gz` from the Go sources of the lab: `make gen`.

The file says of each struct of Kubernetes' API which JSON field has which protobuf number, what Go
leaves out of JSON when it is empty, and what Go calls the type of a field. Generated from Go and
not from OpenAPI or the .proto files: only Go knows pointers, without which a zero that was set
cannot be told from one that was not.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path
from typing import Any

import msgspec

from trellis.lab.errors import LabError
from trellis.lab.gotypes import SPECIAL, Package, definition, fields, kinds
from trellis.lab.source import source

# A path and no import: the two rooms are neighbours.
DATA = Path(__file__).parents[1] / "embedded" / "gotypes.json.gz"
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
# Beside every stable version of k8s.io/api.
OTHERS = (
    META,
    "k8s.io/apimachinery/pkg/runtime",
    "k8s.io/apimachinery/pkg/types",
    "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
    "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
)
_GROUP = re.compile(r'^const GroupName = "([^"]*)"', re.M)
_STABLE = re.compile(r"v\d+")


def packages(cache: Path, tag: str) -> dict[str, Package]:
    """The API packages of one release in Go's module cache."""
    api = cache / f"k8s.io/api@{tag}"
    if not api.is_dir():
        raise LabError(f"{api} is not there: make lab downloads it")
    stable = [folder for folder in sorted(api.glob("*/v*")) if _STABLE.fullmatch(folder.name)]
    found = {}
    for path in (*(f"k8s.io/api/{'/'.join(folder.parts[-2:])}" for folder in stable), *OTHERS):
        package = found[path] = Package(path)
        for file in sorted(_folder(cache, tag, path).glob("*.go")):
            if not file.name.endswith("_test.go"):
                package.read(file.read_text())
    return found


def _folder(cache: Path, tag: str, path: str) -> Path:
    host, module, *rest = path.split("/")
    return cache.joinpath(host, f"{module}@{tag}", *rest)


def table(cache: Path, tag: str) -> dict[str, Any]:
    """Structs by their OpenAPI name, and the objects of each group version."""
    found = packages(cache, tag)
    structs = {
        definition(path, name): [astuple(each) for each in listed]
        for path, package in found.items()
        for name in sorted(package.structs)
        if _travels(package.structs[name]) and f"{path}.{name}" not in SPECIAL
        for listed in (list(fields(found, path, name)),)
    }
    objects: dict[str, dict[str, str]] = {}
    for path in found:
        register = _folder(cache, tag, path) / "register.go"
        group = _GROUP.search(register.read_text()) if register.is_file() else None
        if group is not None:
            version = path.rpartition("/")[2]
            served = f"{group[1]}/{version}" if group[1] else version
            objects[served] = {name: definition(path, name) for name in sorted(kinds(found, path))}
    return {"structs": structs, "objects": objects}


def _travels(body: str) -> bool:
    """A struct of messages: its fields have numbers, or it has none to number."""
    return not body or "protobuf:" in body


def written(value: dict[str, Any]) -> bytes:
    """The same bytes for the same table: no time, no name in the header."""
    return gzip.compress(msgspec.json.encode(value), compresslevel=9, mtime=0)


def _refresh() -> None:
    asked = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True)  # noqa: S607
    kubernetes = source().kubernetes
    found = table(Path(asked.stdout.strip()), f"v0.{kubernetes.split('.', 1)[1]}")
    DATA.write_bytes(written(found))
    told = f"{len(found['structs'])} structs of Kubernetes {kubernetes}"
    print(f"{DATA.name}: {DATA.stat().st_size} bytes, {told}")  # noqa: T201


if __name__ == "__main__":
    try:
        _refresh()
    except LabError as error:
        sys.exit(f"make gen: {error}")
