# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from tests.support.virtual import VirtualClock, dice, run, virtual
from tests.unit.embedded.core.clusters import TOKEN, config_map, fresh_cluster
from trellis.api.core.pod import Pod
from trellis.api.meta import Resource
from trellis.embedded.exchange import Ask
from trellis.kube.client import Client
from trellis.kube.errors import AlreadyExists, NotFound
from trellis.kube.verbs import Deletion

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = Resource("", "v1", "Pod", "pods")
POD = {"containers": [{"name": "main", "image": "example.com/a:1"}]}
AUTOSCALERS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"


async def written_by(seed: int) -> list[bytes]:
    admin = await fresh_cluster(seed)
    for number in range(5):
        await admin.do(
            "POST", MAPS, {"metadata": {"generateName": "a-"}, "data": {"n": f"{number}"}}
        )
    shelf = admin.cluster.store.shelf("", "configmaps")
    return [record.data for record in shelf.list()]


def test_the_same_seed_writes_the_same_bytes() -> None:
    assert run(written_by(3)) == run(written_by(3))


def test_another_seed_draws_other_names() -> None:
    assert run(written_by(3)) != run(written_by(4))


@virtual
async def test_starting_again_on_what_is_there_writes_nothing() -> None:
    admin = await fresh_cluster()
    before = admin.cluster.store.version
    await admin.cluster.start()
    assert admin.cluster.store.version == before


@virtual
async def test_who_asks_again_and_again_without_a_socket_leaves_others_their_turn() -> None:
    admin = await fresh_cluster()
    client = Client(admin.cluster.transport(TOKEN), VirtualClock(), dice(1))
    heard = asyncio.create_task(asyncio.sleep(0, "what changed"))
    asked = 0
    while not heard.done() and asked < 100:
        await client.of(PODS, Pod, "default").list()
        asked += 1
    assert heard.done()


@virtual
async def test_our_own_client_works_without_a_socket() -> None:
    admin = await fresh_cluster()
    await admin.do(
        "POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}}
    )
    client = Client(admin.cluster.transport(TOKEN), VirtualClock(), dice(1))
    pods = client.of(PODS, Pod, "default")
    made = await pods.create({"metadata": {"name": "a"}, "spec": POD})
    assert made.metadata.uid
    with pytest.raises(AlreadyExists):
        await pods.create({"metadata": {"name": "a"}, "spec": POD})
    await pods.delete("a", Deletion(uid=made.metadata.uid))
    with pytest.raises(NotFound):
        await pods.get("a")


@virtual
async def test_two_updates_from_the_same_version_are_one_update_and_one_conflict() -> None:
    admin = await fresh_cluster()
    made = await admin.do("POST", MAPS, config_map("a"))
    await admin.do("PUT", f"{MAPS}/a", {**made, "data": {"a": "2"}})
    answer = await admin.ask("PUT", f"{MAPS}/a", {**made, "data": {"a": "3"}})
    assert answer.status == 409


@virtual
async def test_an_autoscaler_of_the_old_version_is_kept_in_the_new_one_and_comes_back_whole() -> (
    None
):
    admin = await fresh_cluster()
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 4, "targetCPUUtilizationPercentage": 60}
    await admin.do("POST", AUTOSCALERS.format("v1"), {"metadata": {"name": "a"}, "spec": spec})
    new = await admin.do("GET", AUTOSCALERS.format("v2") + "/a")
    assert new["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 60
    old = await admin.do("GET", AUTOSCALERS.format("v1") + "/a")
    assert old["spec"]["targetCPUUtilizationPercentage"] == 60


@virtual
async def test_an_event_written_to_either_group_is_read_from_both() -> None:
    admin = await fresh_cluster()
    event = {
        "metadata": {"name": "a"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "tests",
        "reportingInstance": "t",
        "action": "Test",
        "type": "Normal",
        "reason": "Because",
        "note": "said",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
    }
    await admin.do("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event)
    old = await admin.do("GET", "/api/v1/namespaces/default/events/a")
    assert (old["message"], old["involvedObject"]["name"]) == ("said", "p")
    for path, field in (
        ("/api/v1/namespaces/default/events", "involvedObject.name=p"),
        ("/apis/events.k8s.io/v1/namespaces/default/events", "regarding.name=p"),
    ):
        assert len((await admin.do("GET", path, fieldSelector=field))["items"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("POST", MAPS, b"{" * 100_000, id="text that only opens braces"),
        pytest.param("POST", MAPS, b'{"a":' * 5_000 + b"1" + b"}" * 5_000, id="deep nesting"),
        pytest.param("POST", MAPS, b"\xff\xfe", id="bytes that are no text"),
        pytest.param("PUT", f"{MAPS}/a", b"[]", id="a list where an object belongs"),
        pytest.param("GET", "/api/v1/namespaces/%00/configmaps", b"", id="a null in the path"),
        pytest.param("GET", "/apis/a/b/c/d/e/f/g", b"", id="a path that leads nowhere"),
    ],
)
def test_what_no_client_would_send_is_refused_and_never_our_failure(
    method: str, path: str, body: bytes
) -> None:
    async def answered() -> int:
        admin = await fresh_cluster()
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        ask = Ask(method=method, path=path, headers=headers, body=body)
        return (await admin.cluster.handle(ask)).status

    assert run(answered()) < 500


@virtual
async def test_a_grace_of_centuries_runs_over_as_on_the_real_server() -> None:
    admin = await fresh_cluster()
    at = "/api/v1/namespaces/default"
    await admin.do("POST", f"{at}/serviceaccounts", {"metadata": {"name": "default"}})
    started = VirtualClock().now()
    for seconds, lasting in ((1 << 40, -7_293_016_647), ((1 << 63) - 1, -1)):
        spec = POD | {"terminationGracePeriodSeconds": seconds, "nodeName": "node-1"}
        await admin.do("POST", f"{at}/pods", {"metadata": {"name": f"a-{seconds}"}, "spec": spec})
        going = (await admin.do("DELETE", f"{at}/pods/a-{seconds}"))["metadata"]
        assert going["deletionGracePeriodSeconds"] == seconds
        due = datetime.fromisoformat(going["deletionTimestamp"])
        assert round((due - started).total_seconds()) == lasting
        shortened = await admin.do("DELETE", f"{at}/pods/a-{seconds}", gracePeriodSeconds="0")
        assert shortened["metadata"]["name"] == f"a-{seconds}"
