# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api.meta import Resource
from trellis.kube.errors import BadName
from trellis.kube.resource import path as path_of

PODS = Resource("", "v1", "Pod", "pods")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
JOBS = Resource("batch", "v1", "Job", "jobs")


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param(path_of(PODS), "/api/v1/pods", id="all of them"),
        pytest.param(path_of(PODS, "here"), "/api/v1/namespaces/here/pods", id="of a namespace"),
        pytest.param(path_of(PODS, "here", "a"), "/api/v1/namespaces/here/pods/a", id="one"),
        pytest.param(
            path_of(PODS, "here", "a", "status"),
            "/api/v1/namespaces/here/pods/a/status",
            id="a part of one",
        ),
        pytest.param(path_of(NODES, "", "n"), "/api/v1/nodes/n", id="one without a namespace"),
        pytest.param(path_of(JOBS, "here"), "/apis/batch/v1/namespaces/here/jobs", id="of a group"),
        pytest.param(
            path_of(NODES, "", "system:node"),
            "/api/v1/nodes/system:node",
            id="colons stay as they are",
        ),
        pytest.param(
            path_of(NODES, "", "a?b#c"), "/api/v1/nodes/a%3Fb%23c", id="others are encoded"
        ),
    ],
)
def test_paths(path: str, want: str) -> None:
    assert path == want


@pytest.mark.parametrize("name", [".", "..", "a/b", "../secrets/x", "a%2fb"])
def test_a_name_cannot_lead_elsewhere(name: str) -> None:
    with pytest.raises(BadName):
        path_of(PODS, "here", name)
    with pytest.raises(BadName):
        path_of(PODS, name, "a")


def test_a_namespace_is_given_where_one_is_needed_and_only_there() -> None:
    with pytest.raises(BadName, match="a namespace is needed"):
        path_of(PODS, "", "a")
    with pytest.raises(BadName, match="have no namespace"):
        path_of(NODES, "here", "n")


@given(st.text(min_size=1))
def test_whatever_the_name_is_it_stays_one_segment(name: str) -> None:
    try:
        path = path_of(NODES, "", name)
    except (BadName, UnicodeEncodeError):
        return
    assert path.count("/") == 4
    assert not set(path) & set("?#\\ ")


def test_the_group_version_is_written_as_in_manifests() -> None:
    assert (PODS.api_version, JOBS.api_version) == ("v1", "batch/v1")
