# SPDX-License-Identifier: Apache-2.0
"""Folders and ports of labs on this machine: claimed under a lock, swept when nobody holds them.

A folder belongs to whoever holds the lock in it. The lock is handed down to every component, so
that a folder is free only when its lab *and* the last of its processes are gone.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.instruments.locks import exclusive, try_lock
from trellis.instruments.ports import free_ports, is_free
from trellis.lab.components import Layout, Ports
from trellis.lab.errors import LabError, NameTaken

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


def cache_root() -> Path:
    """Where this user keeps what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "trellis" / "lab"


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder and ports that are ours until `release`."""

    name: str
    layout: Layout
    ports: Ports
    locks: tuple[int, ...]

    def release(self, *, keep: bool = False) -> None:
        """Gives the folder up; it is removed unless a user is to look at what is in it."""
        if not keep:
            shutil.rmtree(self.layout.run, ignore_errors=True)
        for lock in self.locks:
            os.close(lock)


def claim(root: Path, name: str | None = None, data: Path | None = None) -> Claim:
    """Sweeps what dead labs left, then takes a folder and five ports."""
    if name is not None and not _NAME.fullmatch(name):
        raise LabError(
            f"--name {name!r}: use at most 40 lower case letters, digits and inner dashes"
        )
    runs = root / "run"
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    with exclusive(runs / ".lock"):
        live = _sweep(runs)
        chosen = name or next(free for free in _names() if free not in live)
        if chosen in live:
            raise NameTaken(f"a lab named {chosen!r} is running; choose another --name or stop it")
        locks = []
        if data is not None:
            data.mkdir(parents=True, exist_ok=True, mode=0o700)
            locks.append(_lock_or_refuse(data))
        run = runs / chosen
        run.mkdir(mode=0o700)
        locks.append(_lock_or_refuse(run))
        layout = Layout(run=run, data=data or run)
        return Claim(chosen, layout, _take_ports(layout, list(live.values())), tuple(locks))


def _sweep(runs: Path) -> dict[str, Path]:
    """Removes the folders nobody holds and returns the others."""
    live = {}
    for folder in sorted(entry for entry in runs.iterdir() if entry.is_dir()):
        lock = try_lock(folder)
        if lock is None:
            live[folder.name] = folder
        else:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
    return live


def _names() -> Iterator[str]:
    yield "lab"
    number = 2
    while True:
        yield f"lab-{number}"
        number += 1


def _take_ports(layout: Layout, live: list[Path]) -> Ports:
    """The ports this data folder had before if they are free, otherwise fresh ones."""
    file = Path(layout.data) / "ports.json"
    taken = {port for folder in live for port in _recorded(folder / "ports.json")}
    wanted = _recorded(file)
    names = [field.name for field in fields(Ports)]
    if len(wanted) != len(names) or not all(is_free(port, taken) for port in wanted):
        wanted = free_ports(len(names), random.Random(), taken)  # noqa: S311  no secrets
    ports = Ports(**dict(zip(names, wanted, strict=True)))
    for place in {file, Path(layout.run) / "ports.json"}:
        place.write_text(json.dumps(asdict(ports)))
    return ports


def _recorded(file: Path) -> list[int]:
    try:
        return [int(port) for port in json.loads(file.read_text()).values()]
    except (OSError, ValueError, AttributeError):
        return []


def _lock_or_refuse(folder: Path) -> int:
    lock = try_lock(folder)
    if lock is None:
        raise NameTaken(f"{folder} is used by a lab that is running or still stopping")
    return lock
