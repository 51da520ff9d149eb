# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trellis.embedded import place
from trellis.embedded.place import About, AlreadyRunning, BadName, NoPlace
from trellis.kube.kubeconfig_writing import WouldOverwrite

ABOUT = About(
    server="https://127.0.0.1:1", kubeconfig="/k", nodes=4, gpus=16, operator=True, example="job"
)


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        pytest.param({"HOME": "/home/me"}, "/home/me/.local/state/trellis", id="at home"),
        pytest.param(
            {"HOME": "/home/me", "XDG_STATE_HOME": "/state"}, "/state/trellis", id="as XDG says"
        ),
    ],
)
def test_state_is_where_users_keep_it(environ: dict[str, str], root: str) -> None:
    assert place.state_root(environ) == Path(root)


def test_a_name_is_taken_until_it_is_released(tmp_path: Path) -> None:
    claim = place.claim(tmp_path, "mine")
    with pytest.raises(AlreadyRunning):
        place.claim(tmp_path, "mine")
    assert place.names(tmp_path) == ["mine"]
    claim.release()
    assert place.names(tmp_path) == []
    assert not (tmp_path / "mine").exists()
    place.claim(tmp_path, "mine").release()


def test_whoever_looks_while_a_name_is_given_up_sees_it_there_or_gone(tmp_path: Path) -> None:
    def come_and_go() -> None:
        for _ in range(500):
            place.claim(tmp_path, "a").release()

    with ThreadPoolExecutor(1) as others:
        going = others.submit(come_and_go)
        while not going.done():
            seen = place.look(tmp_path, "a")
            assert seen is None or seen.folder == tmp_path / "a"
        going.result()


def test_what_is_there_tells_of_itself_once_it_is_up(tmp_path: Path) -> None:
    claim = place.claim(tmp_path, "mine")
    found = place.look(tmp_path, "mine")
    assert found is not None
    assert (found.alive, found.pid, found.about()) == (True, os.getpid(), None)
    claim.announce(ABOUT)
    assert found.about() == ABOUT
    claim.release()
    assert place.look(tmp_path, "mine") is None


def test_folders_are_private(tmp_path: Path) -> None:
    claim = place.claim(tmp_path / "new", "mine")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE(claim.place.folder.stat().st_mode) == 0o700
    claim.release()


def test_what_a_dead_one_left_is_not_believed_and_goes_with_the_next(tmp_path: Path) -> None:
    claim = place.claim(tmp_path, "mine")
    claim.announce(ABOUT)
    os.close(claim.lock)  # as the system does when a process dies
    found = place.look(tmp_path, "mine")
    assert found is not None
    assert not found.alive
    assert place.names(tmp_path) == []
    again = place.claim(tmp_path, "mine")
    assert again.place.about() is None
    again.release()


def test_logs_of_one_that_broke_stay_and_its_name_is_free(tmp_path: Path) -> None:
    claim = place.claim(tmp_path, "mine")
    claim.place.log.write_text("why")
    claim.release(keep=True)
    assert claim.place.log.read_text() == "why"
    place.sweep(tmp_path, "mine")
    assert not claim.place.folder.exists()


def test_a_lock_without_a_pid_is_alive_and_nobody_is_signalled(tmp_path: Path) -> None:
    claim = place.claim(tmp_path, "mine")
    (claim.place.folder / "pid").unlink()
    found = place.look(tmp_path, "mine")
    assert found is not None
    assert (found.alive, found.pid) == (True, 0)
    claim.release()


@pytest.mark.parametrize(
    "name",
    ["", "../up", "a/b", "Upper", "-a", "a" * 41, "a\n", "."],
    ids=lambda name: repr(name)[:20],
)
def test_a_name_that_is_no_folder_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadName, match="is no name"):
        place.claim(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_a_state_folder_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoPlace, match="XDG_STATE_HOME"):
        place.claim(tmp_path / "file" / "trellis", "mine")


def test_the_users_own_kubeconfig_is_never_ours_to_write(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    with pytest.raises(WouldOverwrite, match="is yours alone"):
        place.refuse_others_files(tmp_path / ".kube" / ".." / ".kube" / "config", environ)
    (tmp_path / "other").write_text("kind: Config\n")
    with pytest.raises(WouldOverwrite, match="was not written by trellis"):
        place.refuse_others_files(tmp_path / "other", environ)
    place.refuse_others_files(tmp_path / "new", environ)
