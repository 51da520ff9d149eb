# SPDX-License-Identifier: Apache-2.0
"""`trellis demo`: a story with times that ends well, and leaves nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.ups import Home


async def test_it_tells_what_happened_and_ends_by_itself(home: Home) -> None:
    before = set(Path("/tmp").glob("trellis-demo-*"))  # noqa: S108  where Python puts them
    done = await home.trellis("demo")
    assert done.code == 0, done.errors
    lines = done.output.splitlines()
    assert all(re.fullmatch(r" *[0-9]+\.[0-9] s  .+", line) for line in lines)
    told = [line.split(" s  ", 1)[1] for line in lines]
    assert told[0].startswith("the API answers at https://127.0.0.1:")
    assert "4 nodes with 16 GPUs are ready" in told
    assert "the operator is ready" in told
    assert sum(line.endswith(" runs") for line in told) == 4
    shown = "PodCliqueSet train: 4 pods with 1 GPU each, all or none"
    assert told[-2] == f"all of it runs: {shown}"
    assert "\033" not in done.output + done.errors, "no terminal tricks where there is none"
    assert set(Path("/tmp").glob("trellis-demo-*")) <= before  # noqa: S108
    assert not home.state.exists()
