# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.transport import MemoryTransport, answer, failure
from tests.support.virtual import run
from tests.unit.kube.builders import a_client
from trellis.api.meta import Resource
from trellis.kube.discovery import Served, discover
from trellis.kube.errors import Unreadable

if TYPE_CHECKING:
    from trellis.kube.transport import Request, Response

PODS = Resource("", "v1", "Pod", "pods")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
CLAIMS, BETA = (
    Resource("resource.k8s.io", version, "ResourceClaim", "resourceclaims")
    for version in ("v1", "v1beta1")
)
SLICES = Resource("resource.k8s.io", "v1beta1", "ResourceSlice", "resourceslices", namespaced=False)
ALL = (PODS, NODES, CLAIMS, BETA, SLICES)


def aggregated(group: str, resources: dict[str, list[Resource]], stale: str = "") -> dict[str, Any]:
    versions = [
        {
            "version": version,
            "freshness": "Current",
            "resources": [
                {
                    "resource": each.plural,
                    "responseKind": {"group": "", "version": "", "kind": each.kind},
                    "scope": "Namespaced" if each.namespaced else "Cluster",
                    "singularResource": each.kind.lower(),
                    "verbs": ["get"],
                    "subresources": [{"subresource": "status", "verbs": ["get"]}],
                }
                for each in found
            ],
        }
        for version, found in resources.items()
    ]
    gone = [{"version": stale, "freshness": "Stale"}] if stale else []
    item = {"metadata": {"name": group} if group else {}, "versions": versions + gone}
    return {"kind": "APIGroupDiscoveryList", "items": [item]}


def listed(*resources: Resource) -> dict[str, Any]:
    entries = [
        {"name": each.plural, "kind": each.kind, "namespaced": each.namespaced, "verbs": []}
        for each in resources
    ]
    status = {"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": []}
    return {"kind": "APIResourceList", "resources": [*entries, status]}


AGGREGATED = {
    "/api": aggregated("", {"v1": [PODS, NODES]}),
    "/apis": aggregated("resource.k8s.io", {"v1": [CLAIMS], "v1beta1": [BETA, SLICES]}),
}
ONE_BY_ONE = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": listed(PODS, NODES),
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": "resource.k8s.io",
                "versions": [
                    {"groupVersion": "resource.k8s.io/v1", "version": "v1"},
                    {"groupVersion": "resource.k8s.io/v1beta1", "version": "v1beta1"},
                ],
            }
        ],
    },
    "/apis/resource.k8s.io/v1": listed(CLAIMS),
    "/apis/resource.k8s.io/v1beta1": listed(BETA, SLICES),
}


def discovered(served: dict[str, Any]) -> Served:
    def found(request: Request) -> Response:
        return answer(served[request.path]) if request.path in served else failure(503)

    transport = MemoryTransport(found)

    async def scenario() -> Served:
        return await discover(a_client(transport))

    try:
        return run(scenario())
    finally:
        assert "as=APIGroupDiscoveryList" in dict(transport.requests[0].headers)["Accept"]


@pytest.mark.parametrize("served", [AGGREGATED, ONE_BY_ONE], ids=["aggregated", "one by one"])
def test_both_forms_tell_the_same(served: dict[str, Any]) -> None:
    assert discovered(served) == Served(resources=ALL)


PREFERRED = ("v1", "v1beta2", "v1beta1")


@pytest.mark.parametrize(
    ("group", "plural", "versions", "want"),
    [
        pytest.param("", "pods", (), PODS, id="a core kind"),
        pytest.param("resource.k8s.io", "resourceclaims", PREFERRED, CLAIMS, id="the first"),
        pytest.param("resource.k8s.io", "resourceslices", PREFERRED, SLICES, id="the next best"),
        pytest.param("resource.k8s.io", "resourceclaims", ("v1beta1",), BETA, id="only an old one"),
        pytest.param("resource.k8s.io", "resourceclaims", (), CLAIMS, id="the server's favourite"),
        pytest.param("resource.k8s.io", "resourceclaims", ("v2",), None, id="a version not served"),
        pytest.param("resource.k8s.io", "gizmos", PREFERRED, None, id="a resource not served"),
        pytest.param("resource.nvidia.com", "computedomains", (), None, id="a group not served"),
    ],
)
def test_a_version_is_chosen_and_absence_is_a_value(
    group: str, plural: str, versions: tuple[str, ...], want: Resource | None
) -> None:
    assert discovered(AGGREGATED).choose(group, plural, versions) == want


def test_a_server_behind_the_server_that_is_away_hides_only_its_own() -> None:
    stale = {**AGGREGATED, "/apis": aggregated("metrics.k8s.io", {}, stale="v1beta1")}
    assert discovered(stale) == Served(
        resources=(PODS, NODES), unreachable=("metrics.k8s.io/v1beta1",)
    )
    missing = {path: body for path, body in ONE_BY_ONE.items() if not path.endswith("v1beta1")}
    assert discovered(missing) == Served(
        resources=(PODS, NODES, CLAIMS), unreachable=("resource.k8s.io/v1beta1",)
    )


def test_garbage_is_one_error() -> None:
    with pytest.raises(Unreadable, match="GET /api"):
        discovered({"/api": ["garbage"], "/apis": {}})
