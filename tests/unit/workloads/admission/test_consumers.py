# SPDX-License-Identifier: Apache-2.0
"""No claim is shared by more pods than it can be reserved for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.admission.stage import Stage
from tests.unit.workloads.sets import a_clique, a_group, a_set, a_set_body
from trellis.api.config.types import Limits
from trellis.webhooks.verdict import Allowed
from trellis.workloads.admission.policy import Policy

Json = dict[str, Any]
SET_FIELD = "spec.template.resourceSharing[0]"
GROUP_FIELD = "spec.template.podCliqueScalingGroups[0].resourceSharing[0]"
CLIQUE_FIELD = "spec.template.cliques[0].resourceSharing[0]"


def shared(scope: str, **chosen: Any) -> list[Json]:
    return [{"name": "c", "scope": scope, **({"filter": chosen} if chosen else {})}]


def body(
    of_set: list[Json] | None = None,
    of_group: list[Json] | None = None,
    of_clique: list[Json] | None = None,
) -> Json:
    """Each of 2 replicas has 100 alone, and 3 times 10 and 20 in a group."""
    sharing = {} if of_clique is None else {"resourceSharing": of_clique}
    cliques = (a_clique("alone", 100) | sharing, a_clique("a", 10), a_clique("b", 20))
    of_groups: Json = {} if of_group is None else {"resourceSharing": of_group}
    group = a_group("g", "a", "b", replicas=3, **of_groups)
    of_sets: Json = {} if of_set is None else {"resourceSharing": of_set}
    return a_set_body("llm", *cliques, groups=(group,), replicas=2, **of_sets)


@pytest.mark.parametrize(
    ("document", "field", "pods"),
    [
        pytest.param(body(shared("AllReplicas")), SET_FIELD, 380, id="set, all"),
        pytest.param(body(shared("PerReplica")), SET_FIELD, 190, id="set, per replica"),
        pytest.param(
            body(shared("AllReplicas", childCliqueNames=["alone", "b"])),
            SET_FIELD,
            320,
            id="set, some cliques",
        ),
        pytest.param(
            body(shared("PerReplica", childScalingGroupNames=["g"])),
            SET_FIELD,
            90,
            id="set, a group",
        ),
        pytest.param(body(None, shared("AllReplicas")), GROUP_FIELD, 90, id="group, all"),
        pytest.param(body(None, shared("PerReplica")), GROUP_FIELD, 30, id="group, per replica"),
        pytest.param(
            body(None, shared("AllReplicas", childCliqueNames=["b"])),
            GROUP_FIELD,
            60,
            id="group, one clique",
        ),
        pytest.param(body(None, None, shared("AllReplicas")), CLIQUE_FIELD, 100, id="clique, all"),
    ],
)
def test_a_claim_has_as_many_consumers_as_pods_share_it(
    document: Json, field: str, pods: int
) -> None:
    enough, short = (Policy(limits=Limits(claim_consumers=most)) for most in (pods, pods - 1))
    assert fields(judged(document, policy=enough)) == []
    ((where, said),) = causes(judged(document, policy=short))
    assert where == field
    assert f"{pods} pods would use one ResourceClaim, and {pods - 1} may" in said
    assert "trellis.limits.claimConsumers" in said


def test_each_pod_has_a_claim_of_its_own_where_its_clique_says_so() -> None:
    document = body(None, None, shared("PerReplica"))
    assert fields(judged(document, policy=Policy(limits=Limits(claim_consumers=1)))) == []


def test_no_more_pods_share_a_claim_than_servers_reserve_it_for() -> None:
    of_clique = {"resourceSharing": shared("AllReplicas")}
    fits, more = (a_set_body("llm", a_clique("w", count) | of_clique) for count in (256, 257))
    assert fields(judged(fits)) == []
    assert fields(judged(more)) == [CLIQUE_FIELD]


def test_numbers_of_any_size_are_counted() -> None:
    document = a_set_body(
        "llm",
        a_clique("w", 2**31 - 1),
        groups=(a_group("g", "w", replicas=2**31 - 1, least=2**31 - 1),),
        replicas=2**31 - 1,
        resourceSharing=shared("AllReplicas"),
    )
    assert SET_FIELD in fields(judged(document))


def test_a_claim_that_is_shared_by_too_many_already_stays_and_may_be_shared_by_fewer() -> None:
    def of(count: int, **metadata: Any) -> Json:
        sharing = {"resourceSharing": shared("AllReplicas")}
        document = a_set_body("llm", a_clique("w", count, 1) | sharing)
        document["metadata"] |= metadata
        return document

    assert fields(judged(of(300, labels={"a": "b"}), of(300))) == []
    assert fields(judged(of(299), of(300))) == []
    assert fields(judged(of(301), of(300))) == [CLIQUE_FIELD]


@pytest.mark.parametrize(
    ("document", "part", "most"),
    [
        pytest.param(body(shared("AllReplicas")), "llm-0-alone", 100 - 380, id="set, a clique"),
        pytest.param(body(shared("AllReplicas")), "llm-0-g-1-b", 20 - 380, id="set, a member"),
        pytest.param(body(shared("PerReplica")), "llm-0-alone", 100 - 190, id="set replica"),
        pytest.param(body(None, shared("AllReplicas")), "llm-0-g-2-a", 10 - 90, id="group"),
        pytest.param(body(None, shared("PerReplica")), "llm-0-g-2-a", 10 - 30, id="group replica"),
        pytest.param(body(None, None, shared("AllReplicas")), "llm-0-alone", 0, id="clique"),
    ],
)
def test_a_clique_is_scaled_as_far_as_those_it_shares_with_leave_room(
    document: Json, part: str, most: int
) -> None:
    """`most` is how far beyond the limit it may go, which is less than none."""
    limit = 500
    stage = a_stage(document, limit)
    assert isinstance(stage.scale(part, limit + most), Allowed)
    ((field, said),) = causes(stage.scale(part, limit + most + 1))
    assert field == "spec.replicas"
    assert f"{limit + 1} pods would use one ResourceClaim" in said
    assert "of the PodCliqueSet" in said


@pytest.mark.parametrize(
    ("document", "most"),
    [
        # 380 pods, of which each replica of the group has 30.
        pytest.param(body(shared("AllReplicas")), 7, id="set"),
        pytest.param(body(shared("PerReplica")), 13, id="set replica"),
        pytest.param(body(None, shared("AllReplicas")), 16, id="group"),
        pytest.param(body(None, shared("AllReplicas", childCliqueNames=["b"])), 25, id="members"),
    ],
)
def test_a_group_is_scaled_as_far_as_those_it_shares_with_leave_room(
    document: Json, most: int
) -> None:
    stage = a_stage(document, 500)
    assert isinstance(stage.scale("llm-0-g", most), Allowed)
    assert fields(stage.scale("llm-0-g", most + 1)) == ["spec.replicas"]
    assert isinstance(stage.scale("llm-0-g", most + 1, most + 2), Allowed), "fewer than before"


def test_a_group_whose_replicas_share_nothing_is_scaled_freely() -> None:
    stage = a_stage(body(None, shared("PerReplica")), 30)
    assert isinstance(stage.scale("llm-0-g", 500), Allowed)


def a_stage(document: Json, limit: int) -> Stage:
    spec = document["spec"]
    template = spec["template"]
    found = a_set(
        "llm",
        *template["cliques"],
        groups=tuple(template["podCliqueScalingGroups"]),
        replicas=spec["replicas"],
        resourceSharing=template.get("resourceSharing", []),
    )
    return Stage(found, Policy(limits=Limits(claim_consumers=limit)))
