# SPDX-License-Identifier: Apache-2.0
"""The guard of the managed topology with no webhook there: the API server alone enforces it.

Everybody here has every right that RBAC can give, so that what is refused, the policy refuses.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.topology.operator import operator
from tests.e2e.topology.seen import MANAGED, OWN_PATH, TOPOLOGIES, until, until_gone, until_ready
from tests.support.api import PATCHES, Answer, Api, Request
from tests.support.topologies import configured
from tests.support.waiting import eventually
from trellis.topology.guard import REFUSAL
from trellis.topology.policy import guard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.e2e.topology.operator import Account
    from tests.support.cluster import Cluster

POLICIES = "/apis/admissionregistration.k8s.io/v1"
PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
LABEL = {"metadata": {"labels": {"example.com/a": "b"}}}


def a_topology(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": {"levels": [{"domain": "rack", "key": "topology.kubernetes.io/rack"}]},
    }


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with all rights, by a name."""

    api: Api
    name: str

    async def ask(
        self, method: str, path: str, body: Any = None, *, form: str = "merge", **query: str
    ) -> Answer:
        """`form` is that of a patch."""
        headers = {"Impersonate-User": self.name, "Impersonate-Group": "system:masters"}
        if method == "PATCH":
            headers["Content-Type"] = PATCHES[form]
        request = Request(method=method, path=path, body=body, query=query, headers=headers)
        return await self.api.send(request)

    async def create(self, name: str, **query: str) -> Answer:
        return await self.ask("POST", TOPOLOGIES, a_topology(name), **query)


@pytest.fixture
async def owner(defined: Cluster, who: Account) -> AsyncIterator[User]:
    """The operator, once the policy for it is in force."""
    async with AsyncExitStack() as stack:
        for body in guard(who.operator):
            path = f"{POLICIES}/{PLURALS[body['kind']]}"
            await defined.api.do("POST", path, body)
            name = body["metadata"]["name"]
            stack.push_async_callback(defined.api.do, "DELETE", f"{path}/{name}")
        await _until_asked(defined.api, refused=True)
        yield User(defined.api, who.operator.username)
    await _until_asked(defined.api, refused=False)


async def _until_asked(api: Api, *, refused: bool) -> None:
    """A policy reaches the server through a watch: waits until it, or its end, has."""

    async def asked() -> bool:
        answer = await User(api, "ann").create(MANAGED, dryRun="All")
        return is_refused(answer) is refused

    await eventually(asked, "the policy to be noticed")


def is_refused(answer: Answer) -> bool:
    return answer.status == 403 and REFUSAL in answer.body["message"]


async def test_the_operator_writes_it_and_nobody_else_does(owner: User) -> None:
    others = [
        User(owner.api, name)
        for name in ("ann", "admin", f"{owner.name}-2", "system:serviceaccount:x:grove-operator")
    ]
    for other in others:
        assert is_refused(await other.create(MANAGED))
    assert (await owner.create(MANAGED)).status == 201
    for other in others:
        assert is_refused(await other.ask("PATCH", OWN_PATH, LABEL))
        assert is_refused(await other.ask("PUT", OWN_PATH, await _stored(owner)))
        assert is_refused(await other.ask("PATCH", f"{OWN_PATH}/status", {"status": {}}))
        assert is_refused(await other.ask("DELETE", OWN_PATH))
    assert (await owner.ask("PATCH", OWN_PATH, LABEL)).status == 200
    assert (await owner.ask("DELETE", OWN_PATH)).status == 200


async def test_deleting_all_topologies_at_once_spares_it(owner: User) -> None:
    assert (await owner.create(MANAGED)).status == 201
    ann = User(owner.api, "ann")
    assert is_refused(await ann.ask("DELETE", TOPOLOGIES))
    assert is_refused(await ann.ask("DELETE", TOPOLOGIES, fieldSelector=f"metadata.name={MANAGED}"))
    assert await owner.api.exists(OWN_PATH)
    assert (await owner.ask("DELETE", OWN_PATH)).status == 200


async def test_a_server_side_apply_is_refused_too(owner: User) -> None:
    body = a_topology(MANAGED)
    ann = User(owner.api, "ann")
    assert is_refused(await ann.ask("PATCH", OWN_PATH, body, form="apply", fieldManager="ann"))


async def test_topologies_of_other_names_are_everybodys(owner: User) -> None:
    ann = User(owner.api, "ann")
    path = f"{TOPOLOGIES}/mine"
    assert (await ann.create("mine")).status == 201
    assert (await ann.ask("PATCH", path, LABEL)).status == 200
    assert (await ann.ask("DELETE", path)).status == 200


async def test_what_is_being_deleted_can_end(owner: User) -> None:
    assert (await owner.create(MANAGED)).status == 201
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    assert (await owner.ask("PATCH", OWN_PATH, hold)).status == 200
    collector = User(owner.api, COLLECTOR)
    release = {"metadata": {"finalizers": None}}
    assert is_refused(await collector.ask("PATCH", OWN_PATH, release))
    assert (await owner.ask("DELETE", OWN_PATH)).status == 200
    other = {"spec": {"levels": [{"domain": "zone", "key": "zone"}]}}
    assert is_refused(await collector.ask("PATCH", OWN_PATH, other))
    assert (await collector.ask("PATCH", OWN_PATH, release)).status == 200
    await until_gone(owner.api, OWN_PATH)


@pytest.mark.usefixtures("kai")
async def test_the_operator_works_under_its_own_guard(owner: User, who: Account) -> None:
    async with operator(who, configured("rack", "host")):
        await until_ready(owner.api)
    # Foreground deletion: the cluster's own collector must be able to finish it.
    options = {"propagationPolicy": "Foreground"}
    assert (await owner.ask("DELETE", OWN_PATH, options)).status == 200
    await until_gone(owner.api, OWN_PATH)
    async with operator(who, configured("zone", "rack")):
        await until(owner.api, OWN_PATH, lambda found: found["spec"], "it to be made again")
        await until_ready(owner.api)
    async with operator(who, configured(enabled=False)):
        await until_gone(owner.api, OWN_PATH)


async def _stored(user: User) -> dict[str, Any]:
    found: dict[str, Any] = (await user.ask("GET", OWN_PATH)).body
    found["spec"]["levels"][0]["key"] = "example.com/rack"
    return found
