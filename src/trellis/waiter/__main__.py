# SPDX-License-Identifier: Apache-2.0
"""`python -m trellis.waiter`: the waiter where the command is not on the path."""

from __future__ import annotations

import sys

from trellis.waiter.run import main

sys.exit(main(sys.argv[1:]))
