# SPDX-License-Identifier: Apache-2.0
"""How a command that takes a while shows that it goes on."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import suppress

_QUIET_SECONDS = 30.0


class Progress:
    """One line that changes on a terminal; elsewhere a line now and then, and at each new step.

    `each`: elsewhere a line whenever it is another one, and no other.
    """

    def __init__(self, *, each: bool = False) -> None:
        self._each = each
        self._start = time.monotonic()
        self._last = -_QUIET_SECONDS
        self._step = ""
        self._open = False
        self.last = ""
        """What was said last, shown or not."""

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._start

    def __call__(self, message: str) -> None:
        self.last = message
        now = time.monotonic()
        line = f"[{now - self._start:4.0f} s] {message}"
        if sys.stderr.isatty():
            # One that went on in the next line could not be taken back.
            width = shutil.get_terminal_size().columns - 1
            _show(f"\r\033[K{line[:width]}", end="")
            self._open = True
            return
        step = message if self._each else message.split(":", 1)[0]
        is_due = not self._each and now - self._last >= _QUIET_SECONDS
        if step != self._step or is_due:
            _show(line)
            self._step, self._last = step, now

    def end(self) -> None:
        if self._open:
            _show("")
            self._open = False

    def clear(self) -> None:
        """Takes the line away: what follows says it better."""
        if self._open:
            _show("\r\033[K", end="")
            self._open = False


def _show(text: str, end: str = "\n") -> None:
    """That nobody can read it any more is no reason to stop."""
    with suppress(OSError):
        print(text, end=end, file=sys.stderr, flush=True)
