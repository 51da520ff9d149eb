# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.embedded.access import bootstrap
from trellis.embedded.access.aggregation import aggregated

NAMES = {(item["kind"], item["metadata"]["name"]) for item in bootstrap.objects()}


def test_the_roles_of_every_real_cluster_are_there() -> None:
    for name in (
        *("cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"),
        *("system:public-info-viewer", "system:node", "system:kube-scheduler"),
        *("system:kube-controller-manager", "system:controller:job-controller"),
    ):
        assert ("ClusterRole", name) in NAMES
    for name in ("cluster-admin", "system:discovery", "system:controller:job-controller"):
        assert ("ClusterRoleBinding", name) in NAMES


def test_objects_are_as_one_would_post_them() -> None:
    for item in bootstrap.objects():
        assert item["apiVersion"] == "rbac.authorization.k8s.io/v1"
        assert set(item["metadata"]) <= {"name", "namespace", "labels", "annotations"}


def test_the_aggregated_roles_are_complete() -> None:
    roles = [item for item in bootstrap.objects() if item["kind"] == "ClusterRole"]
    aggregating = [item for item in roles if "aggregationRule" in item]
    assert len(aggregating) == 3
    assert all(aggregated(item, roles) is None for item in aggregating)


def test_every_caller_gets_objects_of_its_own() -> None:
    bootstrap.objects()[0]["metadata"]["name"] = "changed"
    assert bootstrap.objects()[0]["metadata"]["name"] != "changed"
