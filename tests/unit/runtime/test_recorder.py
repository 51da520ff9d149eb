# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.transport import failure
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import BOXES, a_box
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.kube.status import refused
from trellis.runtime.notes import Note
from trellis.runtime.recorder import MOST_WAITING, Recorder

if TYPE_CHECKING:
    from trellis.kube.transport import Request

BOX = a_box().metadata
MISSING = Note("BallsMissing", "3 balls are missing", "Warning")


def a_recorder(api: MemoryApi) -> tuple[Recorder, Meter]:
    meter = Meter()
    client = Client(api, VirtualClock(), dice(1))
    return Recorder(client, meter, reporter="trellis.dev/toys", instance="toys-0"), meter


def sent(api: MemoryApi) -> list[Any]:
    return [json.loads(request.body or b"{}") for request in api.requests]


@virtual.virtual
async def test_an_event_is_as_the_api_wants_it() -> None:
    api = MemoryApi()
    recorder, _ = a_recorder(api)
    recorder.record(BOXES, BOX, MISSING)
    await recorder.flush()
    (event,) = sent(api)
    assert event["metadata"]["name"].startswith("box.")
    assert event | {"metadata": {"namespace": "nursery"}} == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "nursery"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "type": "Warning",
        "reason": "BallsMissing",
        "note": "3 balls are missing",
        "action": "Reconcile",
        "regarding": {
            "apiVersion": "toys.dev/v1",
            "kind": "Box",
            "name": "box",
            "namespace": "nursery",
            "uid": "uid-box",
        },
        "reportingController": "trellis.dev/toys",
        "reportingInstance": "toys-0",
    }


@virtual.virtual
async def test_repetitions_become_a_count_though_nothing_more_is_said() -> None:
    api = MemoryApi()
    recorder, meter = a_recorder(api)
    running = asyncio.create_task(recorder.run())
    for _ in range(5):
        recorder.record(BOXES, BOX, MISSING)
    await asyncio.sleep(25)
    assert sent(api)[1:] == [
        {"series": {"count": 5, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}
    ]
    assert meter.value("trellis_events_total", fate="counted") == 4.0
    running.cancel()


@virtual.virtual
async def test_an_event_that_the_cluster_forgot_is_told_anew_with_its_count() -> None:
    api = MemoryApi()
    recorder, _ = a_recorder(api)
    recorder.record(BOXES, BOX, MISSING)
    await recorder.flush()
    (name,) = api.names("events")
    await api.do("DELETE", f"/apis/events.k8s.io/v1/namespaces/nursery/events/{name}")
    await asyncio.sleep(20)
    recorder.record(BOXES, BOX, MISSING)
    await recorder.flush()
    (anew,) = api.all("events")
    assert anew["series"]["count"] == 2


@virtual.virtual
async def test_what_cannot_be_sent_is_dropped_and_counted_and_the_rest_goes_out() -> None:
    def no_events(request: Request) -> None:
        if b"first" in (request.body or b""):
            raise refused(str(request), failure(403, "Forbidden"))

    api = MemoryApi(before=no_events)
    recorder, meter = a_recorder(api)
    recorder.record(BOXES, BOX, Note("Reason", "first"))
    recorder.record(BOXES, BOX, Note("Reason", "second"))
    await recorder.flush()
    assert [event["note"] for event in api.all("events")] == ["second"]
    assert meter.value("trellis_events_total", fate="refused") == 1.0


@virtual.virtual
async def test_recording_never_waits_and_never_grows() -> None:
    recorder, meter = a_recorder(MemoryApi())
    for number in range(MOST_WAITING + 50):
        recorder.record(BOXES, a_box(f"box-{number}").metadata, MISSING)
    assert meter.value("trellis_events_total", fate="dropped") == 50.0


@virtual.virtual
async def test_an_object_without_a_namespace_has_its_events_in_the_default_one() -> None:
    api = MemoryApi()
    recorder, _ = a_recorder(api)
    recorder.record(BOXES, a_box(namespace="").metadata, MISSING)
    await recorder.flush()
    (event,) = sent(api)
    assert event["metadata"]["namespace"] == "default"
    assert "namespace" not in event["regarding"]


@virtual.virtual
async def test_the_names_of_events_are_in_the_order_in_which_they_were_told() -> None:
    api = MemoryApi()
    recorder, _ = a_recorder(api)
    for number in range(20):
        recorder.record(BOXES, BOX, Note(f"Reason{number}", "said"))
        await recorder.flush()
        await asyncio.sleep(0.001)
    names = [event["metadata"]["name"] for event in sent(api)]
    assert names == sorted(names)
