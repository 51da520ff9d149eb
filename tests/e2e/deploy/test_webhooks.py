# SPDX-License-Identifier: Apache-2.0
"""What works, and what does not, while nobody answers for our webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.deploy.conftest import FILE
from tests.e2e.deploy.test_install import WEBHOOKS
from tests.support.api import PATCHES, Request
from tests.support.waiting import eventually
from trellis.api.grove.clustertopology import ClusterTopology, ClusterTopologyBinding

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Answer, Api
    from tests.support.cluster import Cluster

KINDS = {kind.resource.kind: kind.resource for kind in (ClusterTopology, ClusterTopologyBinding)}
LEVELS = [{"domain": "rack", "key": "example.com/rack"}]
OTHER_LEVELS = {"spec": {"levels": [{"domain": "rack", "key": "example.com/row"}]}}
HELD = {"finalizers": ["example.com/held"]}


def place(kind: str, name: str = "") -> str:
    resource = KINDS[kind]
    return f"/apis/{resource.api_version}/{resource.plural}" + (f"/{name}" if name else "")


def topology(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": KINDS[kind].api_version,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": {"levels": LEVELS},
    }


async def change(api: Api, path: str, body: Any) -> Answer:
    headers = {"Content-Type": PATCHES["merge"]}
    return await api.send(Request(method="PATCH", path=path, body=body, headers=headers))


def unanswered(answer: Answer) -> bool:
    return answer.status == 500 and "failed calling webhook" in answer.body["message"]


@pytest.fixture(scope="module")
async def stored(installed: Cluster) -> AsyncIterator[Api]:
    """Topologies from before the webhooks were there. `held` has a finalizer."""
    api = installed.api
    await api.do("DELETE", WEBHOOKS)
    for kind in KINDS:

        async def made(kind: str = kind) -> bool:
            body = topology(kind, "held", **HELD)
            return (
                await api.send(Request(method="POST", path=place(kind), body=body))
            ).status == 201

        await eventually(made, f"a {kind} to be stored without webhooks")
        await api.do("POST", place(kind), topology(kind, "plain"))
    await installed.kubectl("apply", "-f", str(FILE))
    for kind in KINDS:

        async def reviewed(kind: str = kind) -> bool:
            return unanswered(await change(api, place(kind, "plain"), OTHER_LEVELS))

        await eventually(reviewed, f"changes of a {kind} to be reviewed")
    yield api
    for kind in KINDS:
        await api.do("DELETE", place(kind, "plain"))


@pytest.mark.parametrize("kind", KINDS)
async def test_what_must_be_reviewed_is_refused(stored: Api, kind: str) -> None:
    body = topology(kind, "new")
    made = await stored.send(Request(method="POST", path=place(kind), body=body))
    assert unanswered(made), made.content
    changed = await change(stored, place(kind, "plain"), OTHER_LEVELS)
    assert unanswered(changed), changed.content
    assert f"{kind.lower()}.validating.webhooks.grove.io" in changed.body["message"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"metadata": {"labels": {"a": "b"}}}, id="labels"),
        pytest.param({"metadata": {"annotations": {"a": "b"}}}, id="annotations"),
        pytest.param({"metadata": {"finalizers": ["example.com/more"]}}, id="a finalizer"),
        pytest.param({"spec": {"levels": LEVELS}}, id="a spec that is the same"),
    ],
)
async def test_a_change_that_no_webhook_has_a_say_in_passes(
    stored: Api, kind: str, body: Any
) -> None:
    answer = await change(stored, place(kind, "plain"), body)
    assert answer.status == 200, answer.content
    await stored.do(
        "PATCH", place(kind, "plain"), {"metadata": {"finalizers": None}}, patch="merge"
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_a_status_is_written_unreviewed(stored: Api, kind: str) -> None:
    body = {"status": {"observedGeneration": 1}}
    assert (await change(stored, f"{place(kind, 'plain')}/status", body)).status == 200


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_deleted_goes_when_its_last_finalizer_does(stored: Api, kind: str) -> None:
    path = place(kind, "held")
    await stored.do("DELETE", path)
    assert (await stored.do("GET", path))["metadata"]["deletionTimestamp"]
    await stored.do("PATCH", path, {"metadata": {"finalizers": None}}, patch="merge")
    assert not await stored.exists(path)
