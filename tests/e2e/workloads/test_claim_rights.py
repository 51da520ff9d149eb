# SPDX-License-Identifier: Apache-2.0
"""Nobody gets claims through a set that they may not have: who asks is asked for their rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e.workloads.builders import a_clique, a_group, a_set
from tests.e2e.workloads.world import SETS
from tests.support.api import Answer, Request
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.e2e.workloads.world import Json, World

RBAC = "/apis/rbac.authorization.k8s.io/v1"
LEVELS = ("set", "group", "clique")
ANN = "ann"
DRAW = ("create", "resource.k8s.io", "resourceclaims")
READ = ("get", "resource.k8s.io", "resourceclaimtemplates")


def a_set_that_shares(level: str, *namespaces: str) -> Json:
    """A claim at one of the three levels, from a template in each of these namespaces."""
    shared: list[Json] = [
        {"name": f"devices-{at}", "scope": "AllReplicas", "namespace": one}
        for at, one in enumerate(namespaces)
    ]
    given: dict[str, Json] = {one: {"resourceSharing": []} for one in LEVELS}
    given[level] = {"resourceSharing": shared}
    return a_set(
        "s",
        a_clique("w", 1, 1, **given["clique"]),
        podCliqueScalingGroups=[a_group("g", "w", replicas=1, **given["group"])],
        **given["set"],
    )


@dataclass(frozen=True, slots=True)
class Ann:
    """She may write sets, and whatever else she is given."""

    world: World

    async def may(self, namespace: str, verb: str, group: str, resource: str) -> None:
        root, name = f"{RBAC}/namespaces/{namespace}", f"ann-{verb}-{resource}"
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ANN}
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        role = {"metadata": {"name": name}, "rules": [rule]}
        await self.world.api.do("POST", f"{root}/roles", role)
        await self.world.api.do("POST", f"{root}/rolebindings", binding)

    async def would_make(self, body: Json) -> Answer:
        return await self.world.api.send(
            Request(
                method="POST",
                path=self.world.path(SETS),
                body=body,
                query={"dryRun": "All"},
                headers={"Impersonate-User": ANN},
            )
        )

    async def until_allowed(self, body: Json) -> None:
        """What she was given reaches the server through a watch."""

        async def look() -> bool:
            return (await self.would_make(body)).status == 201

        await eventually(look, "the set to be allowed")


@pytest.fixture
async def ann(world: World) -> Ann:
    found = Ann(world)
    await found.may(world.namespace, "create", "grove.io", SETS)
    await found.until_allowed(a_set("s", a_clique("w", 1, 1)))
    return found


@pytest.fixture
async def elsewhere(world: World) -> AsyncIterator[str]:
    async with fresh_namespace(world.api) as name:
        yield name


@pytest.mark.parametrize("level", LEVELS)
async def test_claims_are_made_only_for_those_who_may_make_them(ann: Ann, level: str) -> None:
    body = a_set_that_shares(level, "")
    refused = await ann.would_make(body)
    assert refused.status == 403
    right = "ann may not create resourceclaims.resource.k8s.io in namespace "
    assert f"{right}{ann.world.namespace}: ask" in refused.body["message"]
    await ann.may(ann.world.namespace, *DRAW)
    await ann.until_allowed(body)
    await ann.until_allowed(a_set_that_shares(level, ann.world.namespace))


@pytest.mark.parametrize("level", LEVELS)
async def test_templates_of_another_namespace_are_for_those_who_may_read_them(
    ann: Ann, elsewhere: str, level: str
) -> None:
    await ann.may(ann.world.namespace, *DRAW)
    await ann.until_allowed(a_set_that_shares(level, ""))
    body = a_set_that_shares(level, "", elsewhere, elsewhere)
    refused = await ann.would_make(body)
    assert refused.status == 403
    right = "ann may not get resourceclaimtemplates.resource.k8s.io in namespace "
    assert f"{right}{elsewhere}: ask" in refused.body["message"]
    await ann.may(elsewhere, *READ)
    await ann.until_allowed(body)


async def test_templates_of_two_other_namespaces_are_refused(ann: Ann, elsewhere: str) -> None:
    for namespace, right in ((ann.world.namespace, DRAW), (elsewhere, READ)):
        await ann.may(namespace, *right)
    await ann.until_allowed(a_set_that_shares("clique", elsewhere))
    refused = await ann.would_make(a_set_that_shares("clique", elsewhere, "", "third"))
    assert refused.status == 422
    assert f"these are in {elsewhere} and another: copy them" in refused.body["message"]


async def test_many_templates_are_judged_within_what_an_expression_may_cost(
    ann: Ann, elsewhere: str
) -> None:
    await ann.may(ann.world.namespace, *DRAW)
    await ann.may(elsewhere, *READ)
    await ann.until_allowed(a_set_that_shares("clique", *[elsewhere] * 60))
