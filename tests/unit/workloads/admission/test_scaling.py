# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.virtual import run
from tests.unit.workloads.admission.builders import GOING, a_review, causes, defaulted, fields
from tests.unit.workloads.admission.corpus import a_set
from tests.unit.workloads.admission.test_corpus import SCALED
from tests.unit.workloads.admission.world import Answered, a_world, at
from trellis.api.config.types import Limits
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Key, Resource
from trellis.webhooks.verdict import ALLOWED, Allowed
from trellis.workloads.admission.policy import Policy, Stored
from trellis.workloads.admission.scaling import scaling

SETS, CLIQUES, GROUPS = (kind.resource for kind in (PodCliqueSet, PodClique, PodCliqueScalingGroup))
HANDLE = scaling(Policy())


def scaled(replicas: int | None, name: str = "base-0-leader", **spec: Any) -> dict[str, Any]:
    counts = {} if replicas is None else {"replicas": replicas}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {**counts, **spec}}


def to(replicas: int | None, resource: Resource, old: int = 1, name: str = "a") -> Any:
    new, before = scaled(replicas, name), scaled(old, name)
    return a_review("UPDATE", new, before, resource=resource, subResource="scale")


@pytest.mark.parametrize(
    ("resource", "most", "key"),
    [
        pytest.param(SETS, 1000, "setReplicas", id="sets"),
        pytest.param(CLIQUES, 5000, "cliqueReplicas", id="cliques"),
        pytest.param(GROUPS, 2000, "groupReplicas", id="groups"),
    ],
)
def test_everything_is_scaled_within_its_limit(resource: Resource, most: int, key: str) -> None:
    assert isinstance(HANDLE(to(most, resource)), Allowed)
    assert isinstance(HANDLE(to(0, resource)), Allowed)
    ((field, said),) = causes(HANDLE(to(most + 1, resource)))
    assert (field, f"trellis.limits.{key}" in said) == ("spec.replicas", True)
    assert fields(HANDLE(to(-1, resource))) == ["spec.replicas"]
    assert isinstance(HANDLE(to(most + 1, resource, old=most + 2)), Allowed), "less is no worse"


def test_a_name_that_would_be_too_long_is_refused_where_it_grows() -> None:
    name = "x" * 61
    assert isinstance(HANDLE(to(10, CLIQUES, name=name)), Allowed)
    ((_, said),) = causes(HANDLE(to(11, CLIQUES, name=name)))
    assert f"'{name}-10', 1 more than the 63 characters allowed" in said
    assert isinstance(HANDLE(to(11, CLIQUES, old=11, name=name)), Allowed)


@pytest.mark.parametrize("resource", [CLIQUES, GROUPS], ids=["clique", "group"])
@pytest.mark.parametrize(
    ("replicas", "want"),
    [
        pytest.param(None, ["scaled to zero"], id="a zero that is left out"),
        pytest.param(0, ["scaled to zero"], id="zero"),
        pytest.param(
            2,
            [
                "spec.replicas: 2 is below minAvailable, 3: as many as are asked for are enough, "
                "and the minimum holds again from 3 on"
            ],
            id="below the minimum",
        ),
        pytest.param(3, [], id="the minimum"),
    ],
)
def test_below_the_minimum_is_allowed_with_a_warning(
    resource: Resource, replicas: int | None, want: list[str]
) -> None:
    counts = scaled(replicas, minAvailable=3)
    itself = a_review("UPDATE", counts, scaled(9), resource=resource)
    stored = Stored(minimum_at=lambda plural, key: 3 if (plural, key) == known else None)
    known = (resource.plural, Key("default", "a"))
    for verdict in (HANDLE(itself), scaling(Policy(), stored)(to(replicas, resource, old=9))):
        assert isinstance(verdict, Allowed)
        assert [one for one in verdict.warnings if not any(part in one for part in want)] == []
        assert len(verdict.warnings) == len(want)


def test_a_set_is_scaled_within_what_all_of_it_comes_to_where_that_is_known() -> None:
    found = msgspec.json.decode(msgspec.json.encode(defaulted(a_set("a"))), type=PodCliqueSet)
    policy = Policy(limits=Limits(pods_per_set=100))
    handle = scaling(policy, Stored(set_at={Key("default", "a"): found}.get))
    assert isinstance(handle(to(10, SETS)), Allowed)
    ((_, said),) = causes(handle(to(11, SETS)))
    assert "replicas lead to 110 pods, and 100 are allowed" in said
    assert isinstance(handle(to(11, SETS, name="unknown")), Allowed)


def test_what_is_on_its_way_out_or_not_scaled_at_all_passes() -> None:
    leaving = scaled(-1) | {"metadata": {"name": "a", **GOING}}
    assert HANDLE(a_review("UPDATE", leaving, scaled(1), resource=CLIQUES)) is ALLOWED
    assert HANDLE(a_review("DELETE", old=scaled(-1), resource=CLIQUES)) is ALLOWED
    status = a_review("UPDATE", scaled(-1), scaled(1), resource=CLIQUES, subResource="status")
    assert HANDLE(status) is ALLOWED


async def told() -> list[Answered]:
    world = await a_world()
    answers = []
    for plural, body in SCALED.items():
        await world.made(at(plural), body)
        for subresource in ("scale", ""):
            for replicas in (0, 1):
                patch = {"spec": {"replicas": replicas}}
                path = at(plural, "scaled", subresource)
                answers.append(await world.ask("PATCH", path, patch, patch="merge"))
    return answers


def test_a_server_scales_to_zero_and_says_so() -> None:
    answers = run(told())
    assert [answer.status for answer in answers] == [200] * 12
    sets, others = answers[:4], answers[4:]
    assert [answer.warnings for answer in sets] == [()] * 4
    for zero in others[::2]:
        assert "scaled to zero, which counts as off" in zero.warnings[0]
    for one in others[3::4]:
        assert "1 is below minAvailable, 2" in one.warnings[0]
