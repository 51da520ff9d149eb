# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api.permissions import READ, Grant, Where
from trellis.app.manifests.installation import Installation
from trellis.app.manifests.rbac import Unfit, roles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.app.manifests.declarations import Manifest

OWN = Where.OWN


def rules(kind: str, *grants: Grant) -> list[Manifest]:
    (role,) = (each for each in roles(grants, Installation()) if each["kind"] == kind)
    found: list[Manifest] = role["rules"]
    return found


def pods(*verbs: str, names: tuple[str, ...] = (), where: Where = Where.EVERYWHERE) -> Grant:
    return Grant(group="", resources=("pods",), verbs=verbs, names=names, where=where)


def a_rule(resource: str, verbs: list[str], names: Iterable[str] = (), group: str = "") -> Manifest:
    narrowed = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": [resource], **narrowed, "verbs": verbs}


@pytest.mark.parametrize(
    ("grants", "everywhere", "own"),
    [
        pytest.param([], [], [], id="nothing declared is nothing granted"),
        pytest.param(
            [pods("watch", "get"), pods("list", "get")],
            [a_rule("pods", ["get", "list", "watch"])],
            [],
            id="verbs of one resource are merged and sorted",
        ),
        pytest.param(
            [Grant(group="", resources=("services", "pods"), verbs=READ)],
            [{"apiGroups": [""], "resources": ["pods", "services"], "verbs": [*READ]}],
            [],
            id="resources with the same verbs share a rule",
        ),
        pytest.param(
            [
                Grant(group="b.io", resources=("things",), verbs=READ),
                Grant(group="a.io", resources=("things",), verbs=READ),
            ],
            [a_rule("things", [*READ], group="a.io"), a_rule("things", [*READ], group="b.io")],
            [],
            id="groups are never mixed, since that would grant their product",
        ),
        pytest.param(
            [pods("delete", names=("b", "a")), pods("get")],
            [a_rule("pods", ["get"]), a_rule("pods", ["delete"], names=("a", "b"))],
            [],
            id="names narrow only what they were declared for",
        ),
        pytest.param(
            [pods("get", "delete", names=("a",)), pods("get")],
            [a_rule("pods", ["get"]), a_rule("pods", ["delete"], names=("a",))],
            [],
            id="what is granted for all is not said again for one",
        ),
        pytest.param(
            [pods("get", names=("a", "b")), pods("watch", names=("b",))],
            [a_rule("pods", ["get"], names=("a",)), a_rule("pods", ["get", "watch"], names=("b",))],
            [],
            id="names that are declared twice are told apart by what they end up with",
        ),
        pytest.param(
            [pods("get", "patch", where=OWN), pods("get")],
            [a_rule("pods", ["get"])],
            [a_rule("pods", ["patch"])],
            id="what is granted everywhere is not said again for our namespace",
        ),
        pytest.param(
            [pods("get", names=("a",), where=OWN), pods("get", where=OWN)],
            [],
            [a_rule("pods", ["get"])],
            id="a rule that would say nothing is left out",
        ),
    ],
)
def test_grants_become_rules(
    grants: list[Grant], everywhere: list[Manifest], own: list[Manifest]
) -> None:
    assert rules("ClusterRole", *grants) == everywhere
    assert rules("Role", *grants) == own


@pytest.mark.parametrize(
    ("grant", "why"),
    [
        *(
            pytest.param(pods("get", verb), "would let the operator take any right", id=verb)
            for verb in ("escalate", "bind", "impersonate")
        ),
        pytest.param(
            Grant(group="", resources=("secrets",), verbs=("get",), names=("mine",)),
            "use Where.OWN",
            id="secrets in all namespaces, even of one name",
        ),
        pytest.param(
            pods("create", names=("a",)), "create cannot be narrowed", id="create by name"
        ),
        pytest.param(
            pods("deletecollection", names=("a",)),
            "deletecollection cannot be narrowed",
            id="deletecollection by name",
        ),
    ],
)
def test_a_grant_that_must_not_be_handed_out_is_refused(grant: Grant, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        list(roles([grant], Installation()))


def test_both_roles_are_bound_to_the_account_of_the_operator_alone() -> None:
    installation = Installation(namespace="elsewhere", name="somebody")
    made = list(roles([pods("get")], installation))
    account = {"kind": "ServiceAccount", "name": "somebody", "namespace": "elsewhere"}
    bindings = [each for each in made if each["kind"].endswith("Binding")]
    assert [each["subjects"] for each in bindings] == [[account], [account]]
    assert [each["roleRef"]["kind"] for each in bindings] == ["ClusterRole", "Role"]
    assert all(each["roleRef"]["name"] == "grove:system:grove-operator" for each in bindings)
    assert made[0]["automountServiceAccountToken"] is False


RESOURCES, VERBS, NAMES = ("pods", "nodes"), ("get", "list", "patch"), ("", "a", "b")
Request = tuple[str, str, str, bool]


@st.composite
def grants(draw: st.DrawFn) -> Grant:
    def some(values: tuple[str, ...], least: int = 1) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.sampled_from(values), min_size=least, unique=True)))

    where = draw(st.sampled_from(Where))
    return Grant(
        group="",
        resources=some(RESOURCES),
        verbs=some(VERBS),
        names=some(NAMES[1:], 0),
        where=where,
    )


def declared(grant: Grant, request: Request) -> bool:
    resource, verb, name, own = request
    named = not grant.names or name in grant.names
    here = own or grant.where is Where.EVERYWHERE
    return resource in grant.resources and verb in grant.verbs and named and here


def allowed(rule: Manifest, request: Request) -> bool:
    resource, verb, name, _ = request
    named = "resourceNames" not in rule or name in rule["resourceNames"]
    return resource in rule["resources"] and verb in rule["verbs"] and named


@given(st.lists(grants(), max_size=6))
def test_what_is_allowed_is_exactly_what_was_declared_in_whatever_order(
    declarations: list[Grant],
) -> None:
    everywhere, own = rules("ClusterRole", *declarations), rules("Role", *declarations)
    assert rules("ClusterRole", *reversed(declarations)) == everywhere
    assert rules("Role", *reversed(declarations)) == own
    for request in product(RESOURCES, VERBS, NAMES, (True, False)):
        wanted = any(declared(grant, request) for grant in declarations)
        holding = everywhere + own if request[3] else everywhere
        assert any(allowed(rule, request) for rule in holding) == wanted, request
