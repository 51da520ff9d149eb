# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.workloads.podgang.grants import GRANTS

READ = {"get", "list", "watch"}


def test_it_may_do_what_it_does_and_no_more() -> None:
    granted = {
        f"{resource}.{grant.group}": set(grant.verbs)
        for grant in GRANTS
        for resource in grant.resources
    }
    assert granted == {
        "podcliquesets.grove.io": READ,
        "podcliques.grove.io": READ,
        "podcliques/status.grove.io": {"patch"},
        "podcliquescalinggroups.grove.io": READ,
        "podgangs.scheduler.grove.io": READ | {"create", "patch", "delete"},
        "podgangs/status.scheduler.grove.io": {"patch"},
        "podgangs/finalizers.scheduler.grove.io": {"update"},
        "podcliquesets/finalizers.grove.io": {"update"},
        "pods.": READ | {"patch"},
        "podgroups.scheduling.run.ai": READ | {"create", "patch", "delete"},
        "customresourcedefinitions.apiextensions.k8s.io": {"list", "watch"},
    }


def test_of_all_definitions_it_reads_one() -> None:
    (named,) = [grant for grant in GRANTS if grant.names]
    assert named.names == ("podgroups.scheduling.run.ai",)
