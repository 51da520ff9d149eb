# SPDX-License-Identifier: Apache-2.0
"""The `trellis` command: hands over to the waiter, or to the parser of all other commands.

Init containers by the thousand run the waiter. What the other commands need is not even read then.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    if sys.argv[1:2] == ["wait"]:
        sys.exit(import_module("trellis.waiter.run").main(sys.argv[2:]))
    import_module("trellis.cli.commands").run()
