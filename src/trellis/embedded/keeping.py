# SPDX-License-Identifier: Apache-2.0
"""What a cluster keeps in its data folder beside its objects: small files, private to their owner.

Each is there whole or not at all, whenever the process dies.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.embedded.store.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable

_SMALL_FILES = "keys"


class UnusableData(Exception):
    """The data folder, or a file in it, cannot be used; the message says which, and what to do."""


class Drawer:
    """Small files by name. Without a folder nothing is kept: everything is as if for the first
    time."""

    def __init__(self, data: Path | None) -> None:
        self.folder = data / _SMALL_FILES if data else None

    def kept(self, name: str, make: Callable[[], bytes]) -> bytes:
        """What was put there under that name; the first time, what is made now."""
        found = self.find(name)
        if found is None:
            found = make()
            self.put(name, found)
        return found

    def find(self, name: str) -> bytes | None:
        if self.folder is None:
            return None
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.folder / name, error) from None

    def put(self, name: str, content: bytes) -> None:
        if self.folder is None:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(self.folder / name)
        except OSError as error:
            raise _unusable(self.folder / name, error) from None


def opened(data: Path) -> Journal:
    """The journal in that folder, for this process alone. Raises what a person can act on."""
    try:
        return Journal(data)
    except OSError as error:
        raise _unusable(data, error) from None


def _unusable(path: Path, error: OSError) -> UnusableData:
    return UnusableData(
        f"{path} cannot be used: {error.strerror}; let --data name a folder that you may write to"
    )
