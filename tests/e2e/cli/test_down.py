# SPDX-License-Identifier: Apache-2.0
"""`trellis down`, as users call it: what runs is stopped, and what does not is no trouble."""

from __future__ import annotations

from tests.e2e.embedded.up.test_up import BARE
from tests.support.ups import UP, Home, up


async def test_it_stops_the_only_one_and_waits_until_it_is_gone(home: Home) -> None:
    async with up(home, *BARE, "--name", "mine") as cluster:
        await cluster.until_said(UP)
        done = await home.trellis("down")
        assert (done.code, done.output) == (0, "mine is stopped\n")
        assert not (home.state / "mine").exists()
        assert await cluster.process.wait() == 0


async def test_among_several_it_wants_a_name(home: Home) -> None:
    async with up(home, *BARE, "--name", "a") as one, up(home, *BARE, "--name", "b") as other:
        await one.until_said(UP)
        await other.until_said(UP)
        done = await home.trellis("down")
        assert done.code == 2
        assert done.errors == "trellis: several are running: a, b; name one: trellis down a\n"
        assert (await home.trellis("down", "a")).code == 0
        assert await one.process.wait() == 0
        assert other.process.returncode is None
        missing = await home.trellis("down", "a")
        assert (missing.code, missing.errors) == (0, "a is not running; b is\n")


async def test_what_was_killed_is_swept(home: Home) -> None:
    async with up(home, *BARE) as cluster:
        await cluster.until_said(UP)
        cluster.process.kill()
        await cluster.process.wait()
    done = await home.trellis("down", "default")
    assert done.code == 0
    assert "was not running any more" in done.errors
    assert not (home.state / "default").exists()


async def test_nothing_to_stop_is_no_failure(home: Home) -> None:
    done = await home.trellis("down")
    assert (done.code, done.errors) == (0, "nothing is running\n")
    assert (await home.trellis("down", "../etc")).code == 2
