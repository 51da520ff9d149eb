# SPDX-License-Identifier: Apache-2.0
"""`python -m trellis.cli`: the command where its script is not on the path."""

from __future__ import annotations

from trellis.cli.main import main

main()
