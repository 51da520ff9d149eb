# SPDX-License-Identifier: Apache-2.0
"""The schemas we keep as data are those of the pinned server."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from trellis.api import schema
from trellis.api.schema.builtin import DATA, data
from trellis.lab.cluster import Place, running
from trellis.lab.schemas import harvest

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.lab.build import Binary
    from trellis.lab.components import Settings


async def test_the_data_is_what_a_fresh_server_says(
    binary: Binary, settings: Settings, root: Path
) -> None:
    if binary.kubernetes != data()["kubernetes"]:
        pytest.skip(f"the data is of Kubernetes {data()['kubernetes']}")
    async with running(binary, settings, Place(root=root)) as lab:
        said = await harvest(lab)
    assert resources.files(schema).joinpath(DATA).read_text() == said, "stale: run `make gen`"
