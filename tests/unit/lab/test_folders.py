# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest

from trellis.instruments.ports import PORT_RANGE
from trellis.lab.errors import LabError, NameTaken
from trellis.lab.folders import claim


def test_unnamed_labs_get_names_and_ports_that_do_not_meet(tmp_path: Path) -> None:
    claims = [claim(tmp_path) for _ in range(3)]
    assert [one.name for one in claims] == ["lab", "lab-2", "lab-3"]
    ports = [port for one in claims for port in astuple(one.ports)]
    assert len(set(ports)) == 15
    assert all(port in PORT_RANGE for port in ports)
    for one in claims:
        one.release()


def test_a_name_is_free_again_after_its_release(tmp_path: Path) -> None:
    claim(tmp_path, "mine").release()
    again = claim(tmp_path, "mine")
    with pytest.raises(NameTaken, match="'mine' is running"):
        claim(tmp_path, "mine")
    again.release()


def test_a_folder_that_was_kept_goes_at_the_next_claim(tmp_path: Path) -> None:
    kept = claim(tmp_path, "failed")
    (Path(kept.layout.run) / "etcd.log").write_text("why it failed")
    kept.release(keep=True)
    assert Path(kept.layout.run).exists()
    claim(tmp_path, "next").release()
    assert not Path(kept.layout.run).exists()


def test_a_folder_is_not_swept_while_a_component_of_a_dead_lab_lives(tmp_path: Path) -> None:
    orphaned = claim(tmp_path, "orphaned")
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=orphaned.locks
    ) as component:
        orphaned.release(keep=True)
        claim(tmp_path, "next").release()
        assert Path(orphaned.layout.run).exists()
        component.communicate(b"\n")
    claim(tmp_path, "next").release()
    assert not Path(orphaned.layout.run).exists()


def test_a_data_folder_keeps_its_ports_and_serves_one_lab_at_a_time(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = claim(tmp_path, data=data)
    with pytest.raises(NameTaken, match="data"):
        claim(tmp_path, data=data)
    first.release()
    second = claim(tmp_path, data=data)
    assert second.ports == first.ports
    assert data.exists()
    second.release()
    assert data.exists()


def test_ports_that_cannot_be_read_back_are_chosen_anew(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "ports.json").write_text("[]")
    claim(tmp_path, data=data).release()


@pytest.mark.parametrize(
    "name", ["", "../up", "a/b", "Upper", "-a", "a" * 41, "a\n"], ids=lambda name: repr(name)[:20]
)
def test_a_name_that_is_no_folder_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match="--name"):
        claim(tmp_path, name)
    assert not (tmp_path / "run").exists()
