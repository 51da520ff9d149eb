# SPDX-License-Identifier: Apache-2.0
"""kubectl prints the same here as it did on the real server, unmodified, whichever minor it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance import differences
from tests.conformance.clients import judging, programs, transcripts
from tests.conformance.clients.stories import STORIES
from tests.conformance.clients.telling import tell

if TYPE_CHECKING:
    from tests.conformance.clients.story import Story
    from tests.conformance.clients.telling import Told
    from tests.support.cluster import Cluster

LEAST_COMMANDS = 40


@pytest.fixture(scope="session", params=programs.MINORS)
def minor(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="session")
async def told(cluster: Cluster, minor: str) -> dict[str, Told]:
    program = programs.kubectl(minor)
    if program is None:
        pytest.skip(f"this machine has no kubectl of {minor}")
    if not transcripts.read(cluster.minor, f"kubectl-{minor}"):
        pytest.skip(f"nothing was recorded on Kubernetes {cluster.minor}")
    return await tell(cluster, program, STORIES)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("story", STORIES, ids=[story.title for story in STORIES])
def test_it_prints_what_it_did_on_the_real_server(
    story: Story, minor: str, told: dict[str, Told], cluster: Cluster
) -> None:
    client = f"kubectl-{minor}"
    expected = transcripts.read(cluster.minor, client)
    known = differences.read() if cluster.embedded else []
    said = {story.title: told[story.title]}
    found = judging.problems(client, expected, said, known)
    assert not found, "\n\n".join(found)


def test_many_commands_are_tried() -> None:
    assert sum(story.commands for story in STORIES) >= LEAST_COMMANDS
    assert len({story.title for story in STORIES}) == len(STORIES)
