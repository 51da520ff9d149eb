# SPDX-License-Identifier: Apache-2.0
"""A controller on a real cluster: it converges, repairs, minds its own business and rests."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.e2e.runtime.conftest import (
    Running,
    cards_of,
    define,
    put_box,
    running,
    until_cards,
    until_status,
)
from tests.e2e.runtime.toy import BOXES, POISON
from tests.support.cluster import LAB
from tests.support.cluster import cluster as new_cluster
from tests.support.waiting import eventually
from trellis.api.meta import Metadata
from trellis.instruments.metrics import Meter
from trellis.kube.errors import Refused
from trellis.kube.verbs import merge_patch
from trellis.lab.components import API_SERVER
from trellis.runtime import notes
from trellis.runtime.health import Address, Health
from trellis.runtime.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api
    from tests.support.cluster import Cluster
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection


def card(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/{name}"


async def test_it_makes_repairs_and_removes_what_it_owns(
    api: Api, namespace: str, boxes: str, toy: Running
) -> None:
    await put_box(api, boxes, "one", cards=5)
    await until_cards(api, namespace, "one", 5)
    await until_status(api, f"{boxes}/one", cards=5)

    await api.do("DELETE", card(namespace, "one-3"))
    await until_cards(api, namespace, "one", 5)

    changed = {"data": {"text": "changed", "foreign": "kept?"}}
    await api.do("PATCH", card(namespace, "one-2"), changed, patch="merge")

    async def repaired() -> bool:
        found: dict[str, Any] = await api.do("GET", card(namespace, "one-2"))
        return bool(found["data"] == {"text": "hello"})

    await eventually(repaired, "the card to be repaired")

    await api.do("PATCH", f"{boxes}/one", {"spec": {"cards": 2, "text": "hi"}}, patch="merge")
    await until_cards(api, namespace, "one", 2)
    await until_status(api, f"{boxes}/one", cards=2)
    assert (await api.do("GET", card(namespace, "one-0")))["data"] == {"text": "hi"}

    await api.do("DELETE", f"{boxes}/one")
    await until_cards(api, namespace, "one", 0)

    async def gone() -> bool:
        return not await api.exists(f"{boxes}/one")

    await eventually(gone, "the box to be gone")
    assert toy.env.meter.value("trellis_reconcile_total", controller="box", outcome="error") == 0


async def test_a_settled_cluster_sees_no_writes(
    api: Api, namespace: str, boxes: str, toy: Running
) -> None:
    for number in range(5):
        await put_box(api, boxes, f"box{number}", cards=4)
    for number in range(5):
        await until_cards(api, namespace, f"box{number}", 4)
        await until_status(api, f"{boxes}/box{number}", cards=4)
    settled = toy.writes()
    # One finalizer, four cards and one status for each.
    assert settled == 5 * 6
    for number in range(100):
        name = f"box{number % 5}"
        labels = {"metadata": {"labels": {"turn": str(number)}}}
        await api.do("PATCH", f"{boxes}/{name}", labels, patch="merge")

    async def looked() -> bool:
        boxes_seen = {box.metadata.labels.get("turn") for box in toy.toy.boxes}
        idle = toy.env.meter.value("trellis_queue_active", controller="box") == 0
        return idle and boxes_seen == {"95", "96", "97", "98", "99"}

    await eventually(looked, "all changes to be looked at")
    assert toy.writes() == settled


async def test_two_that_work_at_once_end_where_one_does_and_rest(
    api: Api, cluster: Cluster, namespace: str, boxes: str
) -> None:
    async with running(cluster, namespace) as one, running(cluster, namespace) as two:
        for number in range(10):
            await put_box(api, boxes, f"box{number}", cards=10)
        for number in range(10):
            await until_status(api, f"{boxes}/box{number}", cards=10)

        async def at_rest() -> bool:
            value = [each.env.meter.value for each in (one, two)]
            waits = [each("trellis_queue_later", controller="box") for each in value]
            waits += [each("trellis_queue_active", controller="box") for each in value]
            seen = {len(each.toy.cards) for each in (one, two)}
            return not any(waits) and len(seen) == 1

        await eventually(at_rest, "both to rest")
        settled = one.writes() + two.writes()
        for number in range(10):
            labels = {"metadata": {"labels": {"turn": "1"}}}
            await api.do("PATCH", f"{boxes}/box{number}", labels, patch="merge")

        async def looked() -> bool:
            labelled = [
                box.metadata.labels.get("turn") for each in (one, two) for box in each.toy.boxes
            ]
            return labelled == ["1"] * 20 and await at_rest()

        await eventually(looked, "both to have looked again")
        assert one.writes() + two.writes() == settled
        for number in range(10):
            assert len(await cards_of(api, namespace, f"box{number}")) == 10


async def test_an_object_of_somebody_else_is_left_alone(
    api: Api, namespace: str, boxes: str, toy: Running
) -> None:
    del toy
    theirs = {"metadata": {"name": "mine-1"}, "data": {"text": "theirs"}}
    await api.do("POST", f"/api/v1/namespaces/{namespace}/configmaps", theirs)
    before = await api.do("GET", card(namespace, "mine-1"))
    await put_box(api, boxes, "mine", cards=3)
    await until_status(api, f"{boxes}/mine", cards=2, trouble="mine-1 belongs to nobody")
    assert await api.do("GET", card(namespace, "mine-1")) == before
    await api.do("DELETE", card(namespace, "mine-1"))
    await until_status(api, f"{boxes}/mine", cards=3, trouble=None)


async def test_a_quota_stops_it_after_a_handful_of_attempts_and_is_told(
    cluster: Cluster, api: Api, namespace: str, boxes: str, toy: Running
) -> None:
    if cluster.embedded:
        pytest.skip("an embedded cluster counts no quota")
    count = {"spec": {"hard": {"count/configmaps": "3"}}, "metadata": {"name": "few"}}
    quota = f"/api/v1/namespaces/{namespace}/resourcequotas"
    await api.do("POST", quota, count)

    async def counted() -> bool:
        return "used" in (await api.do("GET", f"{quota}/few")).get("status", {})

    await eventually(counted, "the quota to be in force")
    await put_box(api, boxes, "big", cards=200)

    async def told() -> str:
        stored = (await api.do("GET", f"{boxes}/big")).get("status", {})
        return str(stored.get("trouble", ""))

    said = await eventually(told, "the refusal to be in the status")
    assert "exceeded quota" in said
    creations = toy.env.meter.value("trellis_writes_total", resource="configmaps", verb="create")
    assert (creations or 0) < 20
    await api.do("DELETE", f"{quota}/few")
    await until_cards(api, namespace, "big", 200)


async def test_a_poison_object_delays_nobody(
    api: Api, namespace: str, boxes: str, toy: Running
) -> None:
    await put_box(api, boxes, POISON, cards=1)

    async def failing() -> bool:
        value = toy.env.meter.value
        return (value("trellis_reconcile_total", controller="box", outcome="error") or 0) > 5

    await eventually(failing, "the poison to have failed a few times")
    began = time.perf_counter()
    for number in range(20):
        await put_box(api, boxes, f"good{number}", cards=1)
    for number in range(20):
        await until_cards(api, namespace, f"good{number}", 1)
    print(f"20 boxes beside a poisonous one: {time.perf_counter() - began:.2f} s")
    assert await cards_of(api, namespace, POISON) == []


async def test_events_are_told_as_kubectl_shows_them(
    api: Api, cluster: Cluster, namespace: str, boxes: str, toy: Running
) -> None:
    del toy
    await put_box(api, boxes, "told", cards=3)
    await until_cards(api, namespace, "told", 3)

    async def described() -> str:
        said = await cluster.kubectl("describe", "boxes.toys.trellis.dev/told", "-n", namespace)
        return said if "CardsMade" in said else ""

    said = await eventually(described, "the event in kubectl describe")
    line = next(line for line in said.splitlines() if "CardsMade" in line)
    assert line.split()[:2] == ["Normal", "CardsMade"]
    assert "trellis.dev/toy" in line
    assert line.endswith("made 3 cards")


async def test_an_event_that_is_told_again_is_counted_as_kubectl_shows_it(
    api: Api, cluster: Cluster, client: Client, boxes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "SECONDS_EACH", 1e-9)
    box = await put_box(api, boxes, "often", cards=0)
    about = Metadata(**{name: box["metadata"][name] for name in ("name", "namespace", "uid")})
    recorder = Recorder(client, Meter(), reporter="trellis.dev/toy", instance="toy")
    for _ in range(3):
        recorder.record(BOXES, about, notes.Note("Often", "once more", "Warning"))
        await recorder.flush()
    where = ("-n", about.namespace)
    said = await cluster.kubectl("describe", "boxes.toys.trellis.dev/often", *where)
    line = next(line for line in said.splitlines() if "Often" in line)
    assert line.split()[0] == "Warning"
    assert "(x3 over" in line


async def answered(boxes: Collection[bytes], patch: dict[str, Any], part: str) -> str:
    """How the server answers a patch: the code, and the first field that it complains of."""
    try:
        await boxes.patch("guarded", merge_patch(patch), subresource=part)
    except Refused as error:
        fields = [cause.field for cause in error.failure.causes]
        return " ".join([str(error.failure.code), *fields[:1]])
    return "applied"


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("guard", "part", "answer"),
    [
        pytest.param("uid", "", "422 metadata.uid", id="the object by its uid"),
        pytest.param("resourceVersion", "", "409", id="the object by its version"),
        pytest.param("resourceVersion", "status", "409", id="its status by its version"),
        pytest.param("uid", "status", "applied", id="its status not by its uid"),
    ],
)
async def test_what_guards_a_patch_from_an_object_made_anew(
    client: Client, namespace: str, guard: str, part: str, answer: str
) -> None:
    """On a real server: what `Writes` and `status` rely on."""
    found = client.of(BOXES, bytes, namespace)
    body = {"apiVersion": BOXES.api_version, "kind": "Box", "metadata": {"name": "guarded"}}
    first = json.loads(await found.create(body))["metadata"]
    await found.delete("guarded")
    await found.create(body)
    patch = {"metadata": {guard: first[guard]}, "spec": {"cards": 9}, "status": {"cards": 9}}
    assert await answered(found, patch, part) == answer


async def test_probes_and_metrics_are_served(toy: Running) -> None:
    async def ready() -> bool:
        return toy.process.readiness.why_not() == ()

    await eventually(ready, "the toy to be ready")
    health = Health(Address("127.0.0.1", 0), toy.process.readiness, toy.env.meter)
    async with health, aiohttp.ClientSession(f"http://127.0.0.1:{health.port}") as session:
        for path in ("/livez", "/healthz", "/readyz"):
            async with session.get(path) as response:
                assert (response.status, await response.text()) == (200, "ok\n")
        async with session.get("/metrics") as response:
            shown = await response.text()
    assert 'trellis_reconcile_total{controller="box",outcome="held"} 0.0' in shown
    assert "trellis_cache_synced" in shown


@pytest.fixture
async def own_cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A lab of this test alone, to be broken."""
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("breaks the control plane, and this run is on another cluster")
    async with new_cluster(LAB, request.config.getoption("--kubernetes")) as found:
        yield found


async def test_it_survives_a_restart_of_the_api_server(own_cluster: Cluster) -> None:
    api, lab = own_cluster.api, own_cluster.lab
    assert lab is not None
    await define(api)
    boxes = "/apis/toys.trellis.dev/v1/namespaces/default/boxes"
    async with running(own_cluster, "default") as toy:
        await put_box(api, boxes, "before", cards=3)
        await until_cards(api, "default", "before", 3)
        await lab.restart(API_SERVER)
        await api.do("DELETE", card("default", "before-1"))
        await put_box(api, boxes, "after", cards=3)
        await until_cards(api, "default", "before", 3)
        await until_cards(api, "default", "after", 3)
        await until_status(api, f"{boxes}/after", cards=3)
        assert toy.process.readiness.why_not() == ()
