# SPDX-License-Identifier: Apache-2.0
"""The official Python client and kr8s get the same here as they did from the real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance import goldens
from tests.conformance.clients import calling, transcripts

if TYPE_CHECKING:
    from tests.support.cluster import Cluster


@pytest.mark.parametrize("module", calling.SCRIPTS)
async def test_its_calls_give_what_they_did_on_the_real_server(
    module: str, cluster: Cluster
) -> None:
    expected = transcripts.read(cluster.minor, f"python-{module}")
    if not expected:
        pytest.skip(f"nothing was recorded on Kubernetes {cluster.minor}")
    difference = goldens.difference([expected], [await calling.called(cluster, module)])
    assert not difference, difference
