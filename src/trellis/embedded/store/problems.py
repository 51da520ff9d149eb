# SPDX-License-Identifier: Apache-2.0
"""What the store refuses, named by what happened. Whoever answers requests translates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.embedded.store.records import Record


class AlreadyThere(Exception):
    """An object was to be created under a name that is taken."""

    def __init__(self, found: Record) -> None:
        super().__init__(f"{found.key} is there already, at version {found.version}")
        self.found = found


class Stale(Exception):
    """The object is not at the version that the write was meant for. `found` None: it is gone."""

    def __init__(self, key: str, expected: int, found: Record | None) -> None:
        now = f"at version {found.version}" if found else "gone"
        super().__init__(f"{key} was to be changed at version {expected}, but is {now}")
        self.found = found


class TooLarge(Exception):
    """The object is larger than any that a real cluster could store."""

    def __init__(self, key: str, size: int, most: int) -> None:
        super().__init__(f"{key} has {size} bytes, and no object may have more than {most}")


class TooOld(Exception):
    """What happened after `asked` is no longer remembered; after `oldest` it is."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {asked} ({oldest})")
        self.asked = asked
        self.oldest = oldest


class JournalProblem(Exception):
    """The journal cannot be used; the message says which file, why, and what to do."""


class DirectoryInUse(JournalProblem):
    def __init__(self, directory: Path, holder: str) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(
            f"the data directory {directory} is in use by {who}: stop it, or give another directory"
        )


class NotAJournal(JournalProblem):
    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} does not begin like a journal of trellis: it is left alone; give another data "
            "directory, or move the file away to begin with an empty cluster"
        )


class JournalTooNew(JournalProblem):
    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} was written by a newer trellis (format {found}, and this one reads up to "
            f"{known}): use that trellis, or give another data directory"
        )


class JournalDamaged(JournalProblem):
    """A record is damaged, and intact ones follow it: to cut here would lose what was promised."""

    def __init__(self, path: Path, offset: int, following: int) -> None:
        super().__init__(
            f"{path} is damaged at byte {offset}, and goes on from byte {following} with what was "
            "written later: restore the file from a backup, or give up everything from the damage "
            f"on with `truncate -s {offset} {path}`"
        )
        self.offset = offset


class NotWritten(JournalProblem):
    """A change could not be written down, so it did not happen."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"the change was not made, because {path} could not be written: {reason}; make room or "
            "repair the disk, and try again"
        )
