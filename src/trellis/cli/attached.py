# SPDX-License-Identifier: Apache-2.0
"""A command that ends with whoever started it, however that one ends.

Its standard input is a pipe that the parent holds open and never writes to.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from trellis.lab.process import PARENT_PIPE

# How long an orderly end may take once the parent is gone.
GRACE_SECONDS = 5.0


def follow_parent() -> None:
    """Only if the parent asked for it, by a variable that must not reach our own children."""
    if os.environ.pop(PARENT_PIPE, ""):
        threading.Thread(target=_wait, name="parent", daemon=True).start()


def _wait() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
