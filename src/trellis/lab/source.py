# SPDX-License-Identifier: Apache-2.0
"""The Go sources of a lab and the identity of the binary they give.

The pinned version comes with its go.mod and go.sum; for any other, go.mod is derived from the one
that Kubernetes publishes, and Go fills in the rest.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from trellis.lab import module
from trellis.lab.errors import LabError

OLDEST_MINOR = 32
_VERSION = re.compile(r"1\.(\d+)\.\d+")


@dataclass(frozen=True, slots=True)
class Source:
    """What a binary is built from. `pinned` sources are complete; others are not until Go ran."""

    kubernetes: str
    pinned: bool
    digest: str

    @property
    def identity(self) -> str:
        return f"{self.kubernetes}-{self.digest[:16]}"

    @property
    def flags(self) -> list[str]:
        """Flags of `go build`: small, reproducible, and with the version that clients will read."""
        major, minor, _ = self.kubernetes.split(".")
        stamps = {
            "gitVersion": f"v{self.kubernetes}",
            "gitMajor": major,
            "gitMinor": minor,
            "gitTreeState": "clean",
        }
        packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        stamped = [
            f"-X {package}.{key}={value}" for package in packages for key, value in stamps.items()
        ]
        return [
            "-trimpath",
            "-buildvcs=false",
            f"-mod={'readonly' if self.pinned else 'mod'}",
            f"-ldflags=-s -w {' '.join(stamped)}",
        ]


def pinned_version() -> str:
    return module.kubernetes_version((_folder() / "go.mod").read_text())


def source(kubernetes: str | None = None) -> Source:
    """The source of the pinned Kubernetes, or of another version such as `1.32.13`."""
    pinned = pinned_version()
    version = (kubernetes or pinned).removeprefix("v")
    parsed = _VERSION.fullmatch(version)
    if not parsed or int(parsed[1]) < OLDEST_MINOR:
        raise LabError(
            f"Kubernetes {version!r}: give a release such as {pinned}, 1.{OLDEST_MINOR} or later"
        )
    files = ("main.go", "go.mod", "go.sum") if version == pinned else ("main.go",)
    digest = hashlib.sha256(f"{version} {platform.system()} {platform.machine()}".encode())
    for name in files:
        digest.update((_folder() / name).read_bytes())
    return Source(version, version == pinned, digest.hexdigest())


def lay_out(what: Source, folder: Path) -> None:
    """Copies the sources into a build folder; go.mod of an unpinned one is written later."""
    names = ("main.go", "go.mod", "go.sum") if what.pinned else ("main.go",)
    for name in names:
        shutil.copyfile(_folder() / name, folder / name)


def _folder() -> Path:
    """`lab/` of a checkout, or the copy that an installed package carries."""
    here = Path(__file__).resolve()
    for folder in (here.parents[3] / "lab", here.parent / "go"):
        if (folder / "main.go").is_file():
            return folder
    raise LabError("the Go sources of the lab are not installed with this package")
