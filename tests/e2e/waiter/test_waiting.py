# SPDX-License-Identifier: Apache-2.0
"""The waiter against servers with bad days, and as a program with signals and an exit code."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.waiter.servers import (
    Place,
    Recorded,
    a_clique,
    an_api,
    dropping,
    listing,
    refusing,
    telling,
)
from tests.support.waiting import eventually
from trellis.waiter import following
from trellis.waiter.access import Mounted
from trellis.waiter.arguments import Parent
from trellis.waiter.run import wait

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.waiter.servers import Turn

PARENT = Parent("a", 2)
READY = ("MODIFIED", a_clique(2, 9))
DONE = "all that this pod starts after is ready"


async def waited(place: Place, *parents: Parent, dice: Recorded | None = None) -> list[str]:
    """What it said until it ended."""
    said: list[str] = []
    async with asyncio.timeout(30):
        access = Mounted.of(place.environ)
        await wait(parents or (PARENT,), access, dice or Recorded(), said.append)
    return said


async def test_it_lists_one_name_and_watches_on_from_there(tmp_path: Path) -> None:
    turns = (listing(a_clique(0, 3), version=5), telling(("MODIFIED", a_clique(1, 7)), READY))
    async with an_api(tmp_path, *turns) as place:
        assert await waited(place) == [
            "a: waiting, 0 of 2 pods ready",
            "a: waiting, 1 of 2 pods ready",
            "a: 2 of 2 pods ready",
            DONE,
        ]
    first, second = place.asked
    assert first == {"fieldSelector": "metadata.name=a", "authorization": "Bearer first"}
    assert second["watch"] == "1"
    assert second["resourceVersion"] == "5"
    assert 240 <= int(second["timeoutSeconds"]) <= 300
    targets = {heard.target.partition("?")[0] for heard in place.server.heard}
    assert targets == {"/apis/grove.io/v1alpha1/namespaces/team/podcliques"}


async def test_nothing_is_watched_where_all_is_ready_already(tmp_path: Path) -> None:
    async with an_api(tmp_path, listing(a_clique(2, 3))) as place:
        assert await waited(place) == ["a: 2 of 2 pods ready", DONE]


@pytest.mark.parametrize("how", ["end", "break"])
async def test_it_goes_on_where_a_watch_ended(tmp_path: Path, how: str) -> None:
    cut = telling(("MODIFIED", a_clique(1, 7)), then=how)
    bookmark = telling(("BOOKMARK", {"metadata": {"resourceVersion": "8"}}), then=how)
    turns = (listing(a_clique(0, 3), version=5), cut, bookmark, telling(READY))
    async with an_api(tmp_path, *turns) as place:
        assert (await waited(place))[-1] == DONE
    assert [one.get("resourceVersion") for one in place.asked] == [None, "5", "7", "8"]


@pytest.mark.parametrize(
    "expired",
    [
        pytest.param(telling(("ERROR", {"code": 410}), then="end"), id="in the watch"),
        pytest.param(refusing(410), id="as its answer"),
    ],
)
async def test_what_was_forgotten_is_listed_anew(tmp_path: Path, expired: Turn) -> None:
    turns = (listing(a_clique(0, 3)), expired, listing(a_clique(2, 8)), telling())
    async with an_api(tmp_path, *turns) as place:
        assert await waited(place) == [
            "a: waiting, 0 of 2 pods ready",
            "a: 2 of 2 pods ready",
            DONE,
        ]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        pytest.param(
            refusing(403, "forbidden"),
            "a: the pod's service account may not read it; the RoleBinding grove.io:pcs:… is to"
            " allow it: 403 forbidden; trying again",
            id="no rights yet",
        ),
        pytest.param(
            refusing(404), "a: the cluster has no PodCliques: 404 no; trying again", id="no kind"
        ),
        pytest.param(
            refusing(503, "busy"), "a: the API server refuses: 503 busy; trying again", id="busy"
        ),
        pytest.param(dropping, "a: the API server cannot be heard:", id="no answer"),
    ],
)
async def test_it_is_patient_and_says_once_what_is_in_the_way(
    tmp_path: Path, trouble: Turn, said: str
) -> None:
    dice = Recorded()
    async with an_api(tmp_path, *[trouble] * 5, listing(a_clique(2, 3))) as place:
        complaint, *rest = await waited(place, dice=dice)
    assert complaint.startswith(said)
    assert rest == ["a: 2 of 2 pods ready", DONE]
    assert dice.pauses == [0.5, 1.0, 2.0, 4.0, 8.0], "it never hurries"


async def test_a_server_that_wants_rest_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []
    sleep = asyncio.sleep

    async def short(seconds: float) -> None:
        rests.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", short)
    turns = (refusing(429, **{"Retry-After": "60"}), listing(a_clique(2, 3)))
    async with an_api(tmp_path, *turns) as place:
        await waited(place)
    assert rests[0] >= 60


async def test_watches_that_end_at_once_are_not_begun_in_a_hurry(tmp_path: Path) -> None:
    dice = Recorded()
    turns = (listing(a_clique(0, 3)), *[telling(then="end")] * 4, telling(READY))
    async with an_api(tmp_path, *turns) as place:
        await waited(place, dice=dice)
    assert dice.pauses == [0.5, 1.0, 2.0, 4.0]


async def test_a_renewed_token_is_used(tmp_path: Path) -> None:
    async def strict(heard: object, writer: asyncio.StreamWriter) -> None:
        known = place.asked[-1]["authorization"] == "Bearer second"
        await (listing(a_clique(2, 3)) if known else refusing(401))(heard, writer)  # type: ignore[arg-type]
        place.token("second")

    async with an_api(tmp_path, strict) as place:
        complaint, *rest = await waited(place)
    assert complaint.startswith("a: the API server does not know our token: 401")
    assert rest[-1] == DONE


async def test_all_parents_are_waited_for(tmp_path: Path) -> None:
    turns = (
        listing(a_clique(2, 3)),
        listing(a_clique(0, 3)),
        telling(READY, then="hold"),
        telling(READY, then="hold"),
    )
    async with an_api(tmp_path, *turns) as place:
        said = await waited(place, PARENT, Parent("b", 1))
    assert said[-1] == DONE
    assert {one["fieldSelector"] for one in place.asked} == {"metadata.name=a", "metadata.name=b"}


async def test_a_parent_at_zero_holds_nobody_up(tmp_path: Path) -> None:
    async with an_api(tmp_path, listing(a_clique(0, 3, replicas=0))) as place:
        assert await waited(place) == ["a: it is scaled to 0, nothing to wait for", DONE]


async def test_a_parent_that_was_deleted_by_mistake_is_waited_for(tmp_path: Path) -> None:
    again = telling(("DELETED", a_clique(0, 4)), ("ADDED", a_clique(0, 6)), READY)
    async with an_api(tmp_path, listing(a_clique(0, 3)), again) as place:
        assert (await waited(place))[1] == "a: waiting, it is not there"


async def test_a_parent_that_stays_away_was_scaled_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "GONE_SECONDS", 0.2)
    turns = (listing(), telling(), listing())
    async with an_api(tmp_path, *turns) as place:
        assert await waited(place) == [
            "a: waiting, it is not there",
            "a: it was scaled away, nothing to wait for",
            DONE,
        ]
    assert [one.get("watch") for one in place.asked] == [None, "1", None]


async def test_a_server_of_another_authority_is_told_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "account"
    folder.mkdir()
    (tmp_path / "other").mkdir()
    async with an_api(folder, listing(a_clique(2, 3))) as place:
        async with an_api(tmp_path / "other", listing()) as other:
            (folder / "ca.crt").write_bytes(other.authority.pair.certificate)
        said: list[str] = []
        work = asyncio.create_task(
            wait([PARENT], Mounted.of(place.environ), Recorded(), said.append)
        )

        async def complained() -> bool:
            return bool(said)

        await eventually(complained, "the complaint")
        work.cancel()
        await asyncio.wait([work])
    assert "CERTIFICATE_VERIFY_FAILED" in said[0]
    assert not place.asked


async def program(place: Place, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "trellis.waiter",
        *arguments,
        env=place.environ,
        stdout=asyncio.subprocess.PIPE,
    )


async def test_the_program_ends_well_and_tells_its_story(tmp_path: Path) -> None:
    async with an_api(tmp_path, listing(a_clique(0, 3)), telling(READY)) as place:
        process = await program(place, "--podcliques=a:2")
        output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode().splitlines() == [
        "a: waiting, 0 of 2 pods ready",
        "a: 2 of 2 pods ready",
        DONE,
    ]


async def test_the_program_ends_at_once_when_its_pod_does(tmp_path: Path) -> None:
    async with an_api(tmp_path, listing(a_clique(0, 3)), telling()) as place:
        process = await program(place, "--podcliques=a:2")
        assert process.stdout
        assert await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
