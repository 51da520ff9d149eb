# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trellis.embedded.fleets import (
    Choice,
    OtherFleet,
    UnknownFleet,
    fleet_called,
    remember,
    remembered,
)
from trellis.embedded.keeping import UnusableData
from trellis.embedded.nodes.loading import READY_MADE, InvalidFleet

if TYPE_CHECKING:
    from pathlib import Path

TINY = Choice(fleet="tiny")


@pytest.mark.parametrize("name", READY_MADE)
def test_every_ready_made_fleet_can_be_had_by_its_name(name: str) -> None:
    assert fleet_called(name).groups


def test_a_fleet_file_can_be_had_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("nodes:\n- {name: one}\n")
    assert [node.name for node in fleet_called(str(file)).nodes] == ["one"]
    file.write_text("nodes: 3\n")
    with pytest.raises(InvalidFleet):
        fleet_called(str(file))


def test_what_is_neither_is_told_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UnknownFleet, match=r"--fleet tyni: is none of tiny, nvl72, .*No such file"):
        fleet_called("tyni")
    (tmp_path / "image").write_bytes(b"\xff\xd8")
    with pytest.raises(UnknownFleet, match="it is not text"):
        fleet_called(str(tmp_path / "image"))


def test_the_fleet_of_a_data_folder_is_remembered_and_no_other_put_over_it(tmp_path: Path) -> None:
    assert remembered(tmp_path) is None
    remember(tmp_path, TINY)
    remember(tmp_path, TINY)
    assert remembered(tmp_path) == TINY
    with pytest.raises(OtherFleet, match=r"holds a cluster with --fleet tiny, and --fleet tiny"):
        remember(tmp_path, Choice(fleet="tiny", nodes=7))
    assert remembered(tmp_path) == TINY


def test_a_note_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    remember(tmp_path, TINY)
    (tmp_path / "keys" / "fleet.json").write_text("{")
    with pytest.raises(UnusableData, match=r"remove fleet\.json"):
        remembered(tmp_path)
