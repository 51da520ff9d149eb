# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from trellis.lab.module import (
    UnknownLayout,
    go_mod,
    kubernetes_version,
    nearest_tags,
    staging_modules,
)

ROOT = Path(__file__).parents[3]
UPSTREAM = """\
module k8s.io/kubernetes

go 1.26.0

godebug default=go1.26

require (
	go.etcd.io/etcd/client/v3 v3.6.8
	go.etcd.io/etcd/server/v3 v3.6.9 // indirect
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kubectl => ./staging/src/k8s.io/kubectl
)
"""


def made_for(kubernetes: str, upstream: str) -> str:
    return go_mod(kubernetes, upstream, staging_modules(kubernetes, upstream))


def test_staging_modules_are_pinned_to_the_tag_of_the_same_release() -> None:
    made = made_for("1.36.3", UPSTREAM)
    assert "\tk8s.io/api => k8s.io/api v0.36.3\n" in made
    assert "\tk8s.io/kubectl => k8s.io/kubectl v0.36.3\n" in made
    assert "./staging" not in made


def test_go_its_debug_settings_and_etcd_follow_kubernetes() -> None:
    made = made_for("1.36.3", UPSTREAM)
    assert "\ngo 1.26.0\n" in made
    assert "\ngodebug default=go1.26\n" in made
    assert "\tgo.etcd.io/etcd/server/v3 v3.6.9\n" in made
    assert kubernetes_version(made) == "1.36.3"


def test_the_client_decides_the_etcd_server_where_that_is_not_named() -> None:
    older = UPSTREAM.replace("\tgo.etcd.io/etcd/server/v3 v3.6.9 // indirect\n", "")
    assert "\tgo.etcd.io/etcd/server/v3 v3.6.8\n" in made_for("1.32.13", older)


def test_a_patch_that_is_not_published_has_the_nearest_stand_in() -> None:
    assert nearest_tags("v0.32.2") == [
        *("v0.32.1", "v0.32.0"),
        *("v0.32.3", "v0.32.4", "v0.32.5", "v0.32.6", "v0.32.7"),
    ]


@pytest.mark.parametrize(
    ("lost", "named"),
    [
        pytest.param("./staging/", "staging modules", id="no staging modules"),
        pytest.param("go 1.26.0", "go directive", id="no Go version"),
        pytest.param("go.etcd.io", "etcd", id="no etcd"),
    ],
)
def test_a_go_mod_of_another_shape_is_refused_with_what_is_missing(lost: str, named: str) -> None:
    with pytest.raises(UnknownLayout, match=named):
        made_for("1.36.3", UPSTREAM.replace(lost, "gone"))


def test_the_committed_module_is_nothing_but_go_mod_go_sum_and_main_go() -> None:
    assert sorted(path.name for path in (ROOT / "lab").iterdir()) == ["go.mod", "go.sum", "main.go"]
