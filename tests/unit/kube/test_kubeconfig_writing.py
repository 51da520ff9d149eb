# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import stat
from typing import TYPE_CHECKING

import pytest
import yaml

from trellis.kube import kubeconfig_writing as kubeconfig
from trellis.kube.kubeconfig_writing import WouldOverwrite

if TYPE_CHECKING:
    from pathlib import Path

OURS = kubeconfig.with_token("lab", "https://127.0.0.1:1", b"authority", "secret")


def test_a_kubeconfig_names_its_server_authority_and_token() -> None:
    config = yaml.safe_load(OURS)
    cluster = config["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"authority"
    assert config["users"][0]["user"] == {"token": "secret"}
    assert config["current-context"] == config["contexts"][0]["name"] == "lab"


def test_it_is_written_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    kubeconfig.write(path, OURS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == OURS
    assert [entry.name for entry in path.parent.iterdir()] == ["config"]


@pytest.mark.parametrize(
    "content",
    [
        b"apiVersion: v1\nkind: Config\n",
        b"extensions: 3\n",
        b"- a\n- list\n",
        b"{not yaml",
        b"\xff\xfe",
        b"",
    ],
    ids=["a config", "odd extensions", "a list", "no YAML", "no text", "an empty file"],
)
def test_a_file_of_somebody_else_is_never_ours_to_replace(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(WouldOverwrite, match="--kubeconfig"):
        kubeconfig.refuse_foreign(path)


def test_one_that_an_earlier_cluster_left_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "config"
    kubeconfig.refuse_foreign(path)
    kubeconfig.write(path, OURS)
    kubeconfig.refuse_foreign(path)


def test_it_is_taken_away_unless_somebody_changed_it(tmp_path: Path) -> None:
    path = tmp_path / "config"
    kubeconfig.write(path, OURS)
    kubeconfig.remove(path, OURS)
    assert not path.exists()
    kubeconfig.write(path, OURS + "# mine now\n")
    kubeconfig.remove(path, OURS)
    assert path.exists()
