# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import stored
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set
from trellis.api.core.pod import Pod, PodSpec
from trellis.api.core.rbac import PolicyRule, Role, RoleBinding, Subject
from trellis.api.grove.template import IN_ORDER
from trellis.api.meta import Metadata
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.waiters import Rights, accounts_in_use, rights
from trellis.workloads.waiting import binding, role

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

IN_TURN = Outline(a_set("llm", a_clique("lead"), a_clique("worker"), startup=IN_ORDER))
GROVES_RULE = PolicyRule(
    api_groups=("",), resources=("pods", "pods/status"), verbs=("get", "list", "watch")
)
GROVES_ACCOUNT = Subject(kind="ServiceAccount", name="llm", namespace="default")
OLD_POD = Pod(metadata=Metadata(name="llm-0-worker-x7k2p", generate_name="llm-0-worker-"))
NEW_POD = Pod(metadata=Metadata(name="llm-0-worker-0-bcdfg"))


def groves() -> Rights:
    own_role, own_binding = role(IN_TURN.set, ()), binding(IN_TURN.set, ())
    return Rights(
        role=structs.replace(own_role, rules=(GROVES_RULE,)),
        binding=structs.replace(own_binding, subjects=(GROVES_ACCOUNT,)),
    )


def names(found: Role | None) -> list[tuple[str, ...]]:
    return [] if found is None else [rule.resource_names for rule in found.rules or ()]


def subjects(found: RoleBinding | None) -> list[str]:
    return [] if found is None else [one.name for one in found.subjects]


def test_nobody_has_rights_where_nobody_waits() -> None:
    assert rights(Outline(a_set("llm")), {}, Rights(), ()) == Rights()


def test_those_that_wait_may_read_those_that_they_wait_for() -> None:
    wanted = rights(IN_TURN, {}, Rights(), ())
    assert names(wanted.role) == [("llm-0-lead",)]
    assert subjects(wanted.binding) == ["default"]


def test_pods_that_grove_made_keep_what_their_waiter_needs() -> None:
    wanted = rights(IN_TURN, {}, groves(), [NEW_POD, OLD_POD])
    assert names(wanted.role) == [("llm-0-lead",), ()]
    assert wanted.role is not None
    assert wanted.role.rules is not None
    assert wanted.role.rules[1] == GROVES_RULE
    assert subjects(wanted.binding) == ["default", "llm"]


def test_what_grove_granted_goes_with_the_last_of_its_pods() -> None:
    assert rights(IN_TURN, {}, groves(), [NEW_POD]) == rights(IN_TURN, {}, Rights(), ())


def test_whoever_has_an_older_template_keeps_its_rights() -> None:
    wanted = rights(IN_TURN, {}, Rights(), (), {"former", "default"})
    assert subjects(wanted.binding) == ["default", "former"]


def made(account: str) -> list[PodClique]:
    """The PodCliques of a set whose workers wait and run under that account."""
    worker = a_clique("worker", podSpec=POD_SPEC | {"serviceAccountName": account})
    outline = Outline(a_set("llm", a_clique("lead"), worker, startup=IN_ORDER))
    return [stored(clique(outline, one, outline.set, None)) for one in outline.alone(0)]


def a_pod_of(account: str) -> Pod:
    return Pod(metadata=Metadata(name="p"), spec=PodSpec(service_account_name=account))


def test_accounts_in_use_are_those_of_podcliques_that_wait_and_of_their_pods() -> None:
    pods = {
        "uid-llm-0-lead": [a_pod_of("leaders")],
        "uid-llm-0-worker": [a_pod_of("former"), a_pod_of("")],
    }
    found = accounts_in_use(made("workers"), lambda uid: pods[uid])
    assert found == {"workers", "former", "default"}
