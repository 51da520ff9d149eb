# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trellis.lab.roles import TARGET, harvest

if TYPE_CHECKING:
    from tests.support.cluster import Cluster


async def test_the_roles_that_a_cluster_is_born_with_are_the_labs(cluster: Cluster) -> None:
    if cluster.lab is None or cluster.minor != "1.36":
        pytest.skip("the data is of the lab's own release")
    assert await harvest(cluster.lab) == TARGET.read_text()
