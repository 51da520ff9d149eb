# SPDX-License-Identifier: Apache-2.0
"""Clusters of this user on this machine, by name: a folder each, with pid, kubeconfig and log.

A folder belongs to whoever holds the lock in it, so that a pid is only ever believed while its
process lives. `~/.kube/config` is nobody's to write here.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trellis.instruments.locks import exclusive, try_lock
from trellis.kube import kubeconfig_writing
from trellis.kube.kubeconfig_writing import WouldOverwrite

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", re.ASCII)


class BadName(ValueError):
    """A name that is no folder of ours."""


class NoPlace(Exception):
    """The user's state folder cannot be written to."""


class AlreadyRunning(Exception):
    """The name is taken by a cluster that runs, or is about to."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a cluster that is up tells others of itself."""

    server: str
    kubeconfig: str
    operator: bool
    nodes: int = 0
    gpus: int = 0
    example: str = ""
    data: str = ""


def state_root(environ: Mapping[str, str]) -> Path:
    """Where this user keeps what outlives a command, and not the machine's next cleaning."""
    base = environ.get("XDG_STATE_HOME")
    home = Path(environ.get("HOME", "/"))
    return (Path(base) if base else home / ".local" / "state") / "trellis"


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one name. What it says is true only while somebody is there. `pid` 0: who it
    is cannot be told."""

    folder: Path
    alive: bool = False
    pid: int = 0

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def operator_log(self) -> Path:
        return self.folder / "operator.log"

    def about(self) -> About | None:
        """None: it is not up yet."""
        try:
            return msgspec.json.decode((self.folder / "about.json").read_bytes(), type=About)
        except (OSError, msgspec.DecodeError):
            return None


@dataclass(frozen=True, slots=True)
class Claim:
    """A place that is this process's until `release`."""

    place: Place
    lock: int

    def announce(self, about: About) -> None:
        kubeconfig_writing.write(
            self.place.folder / "about.json", msgspec.json.encode(about).decode()
        )

    def release(self, *, keep: bool = False) -> None:
        """Gives the name up. The folder goes too, unless a user is to look at its logs."""
        with exclusive(self.place.folder.parent / ".lock"):
            if keep:
                (self.place.folder / "pid").unlink(missing_ok=True)
            else:
                shutil.rmtree(self.place.folder, ignore_errors=True)
            os.close(self.lock)


def claim(root: Path, name: str) -> Claim:
    """Takes a name, and what a cluster that was killed has left under it."""
    folder = root / checked(name)
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with exclusive(root / ".lock"):
            folder.mkdir(mode=0o700, exist_ok=True)
            lock = try_lock(folder)
            if lock is None:
                raise AlreadyRunning(name)
            _sweep(folder)
            (folder / "pid").write_text(f"{os.getpid()}\n")
    except OSError as error:
        raise NoPlace(
            f"{error.filename or folder}: {error.strerror}; set XDG_STATE_HOME to a folder that"
            " you may write to"
        ) from None
    return Claim(Place(folder, alive=True, pid=os.getpid()), lock)


def look(root: Path, name: str) -> Place | None:
    """The place of that name as it is now. None: there is no such."""
    folder = root / checked(name)
    if not folder.is_dir():
        return None
    with exclusive(root / ".lock"):
        if not folder.is_dir():
            # Given up while we waited.
            return None
        lock = try_lock(folder)
        if lock is None:
            return Place(folder, alive=True, pid=_pid(folder))
        os.close(lock)
    return Place(folder)


def sweep(root: Path, name: str) -> None:
    """Removes what a cluster that was killed has left."""
    claim(root, name).release()


def names(root: Path) -> list[str]:
    """Of all that run."""
    if not root.is_dir():
        return []
    found = sorted(one.name for one in root.iterdir() if one.is_dir() and _NAME.fullmatch(one.name))
    return [name for name in found if (place := look(root, name)) and place.alive]


def checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadName(
            f"{name!r} is no name; use at most 40 lower case letters, digits and inner dashes"
        )
    return name


def refuse_others_files(path: Path, environ: Mapping[str, str]) -> None:
    """Before anything is started: the kubeconfig must be ours to write."""
    own = Path(environ.get("HOME", "/")) / ".kube" / "config"
    if path.resolve() == own.resolve():
        raise WouldOverwrite(f"{path} is yours alone; choose another --kubeconfig")
    kubeconfig_writing.refuse_foreign(path)


def _sweep(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.name != "lock":
            entry.unlink()


def _pid(folder: Path) -> int:
    try:
        return int((folder / "pid").read_text())
    except (OSError, ValueError):
        return 0
