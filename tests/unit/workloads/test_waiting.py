# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set
from trellis.api.grove.podclique import PARENTS_LIMIT
from trellis.api.grove.template import EXPLICIT, IN_ORDER
from trellis.api.meta import to_builtins
from trellis.api.syntax import label_value_problem
from trellis.workloads.outline import Outline, Parent
from trellis.workloads.waiting import (
    MOUNT_PATH,
    VOLUME,
    WAITER,
    accounts,
    binding,
    role,
    waited_for,
    with_waiter,
)

IMAGE = "registry.example/trellis:0.1.0"
PARENTS = (Parent("llm-0-leader", 1), Parent("llm-0-sg-0-worker", 3))
NAMES = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=5)
CONTAINERS = st.lists(st.fixed_dictionaries({"name": NAMES, "image": NAMES}), max_size=3)
SPECS = st.fixed_dictionaries(
    {"containers": CONTAINERS},
    optional={
        "initContainers": st.none() | CONTAINERS,
        "volumes": st.none() | st.lists(st.fixed_dictionaries({"name": NAMES}), max_size=3),
        "automountServiceAccountToken": st.booleans(),
        "securityContext": st.none()
        | st.fixed_dictionaries({}, optional={"runAsUser": st.integers(0, 2)}),
        "somethingNew": st.dictionaries(NAMES, NAMES, max_size=2),
    },
)


def waiter_of(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["initContainers"][-1]
    return found


def test_the_waiter_is_the_last_init_container_with_an_argument_for_each_parent() -> None:
    spec = with_waiter(POD_SPEC | {"initContainers": [{"name": "fetch"}]}, PARENTS, IMAGE)
    assert [one["name"] for one in spec["initContainers"]] == ["fetch", WAITER]
    waiter = waiter_of(spec)
    assert waiter["image"] == IMAGE
    assert waiter["command"] == ["trellis", "wait"]
    assert waiter["args"] == ["--podcliques=llm-0-leader:1", "--podcliques=llm-0-sg-0-worker:3"]


def test_without_parents_nothing_is_added() -> None:
    assert with_waiter(POD_SPEC, (), IMAGE) == POD_SPEC


def test_the_strictest_namespaces_take_it() -> None:
    context = waiter_of(with_waiter(POD_SPEC, PARENTS, IMAGE))["securityContext"]
    assert context == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize(
    ("pod", "user"),
    [
        pytest.param({"runAsUser": 0}, 10001, id="a pod of root has the waiter run as another"),
        pytest.param({"runAsUser": 1000}, None, id="any other user is the pod's to choose"),
        pytest.param({}, None, id="without a word, it is the image's"),
    ],
)
def test_the_waiter_never_runs_as_root(pod: dict[str, Any], user: int | None) -> None:
    spec = with_waiter(POD_SPEC | {"securityContext": pod}, PARENTS, IMAGE)
    assert waiter_of(spec)["securityContext"].get("runAsUser") == user


def test_a_guaranteed_pod_stays_guaranteed() -> None:
    resources = waiter_of(with_waiter(POD_SPEC, PARENTS, IMAGE))["resources"]
    assert resources["requests"] == resources["limits"]
    assert set(resources["limits"]) == {"cpu", "memory"}


@pytest.mark.parametrize(
    ("parents", "memory"),
    [(1, "64Mi"), (64, "64Mi"), (65, "96Mi"), (PARENTS_LIMIT, "160Mi")],
)
def test_who_watches_many_parents_gets_the_memory_for_it(parents: int, memory: str) -> None:
    many = [Parent(f"llm-0-sg-{index}-worker", 1) for index in range(parents)]
    assert waiter_of(with_waiter(POD_SPEC, many, IMAGE))["resources"]["limits"]["memory"] == memory


def test_its_token_is_mounted_into_the_waiter_alone() -> None:
    spec = with_waiter(POD_SPEC | {"automountServiceAccountToken": False}, PARENTS, IMAGE)
    mounts = [
        (one["name"], mount["name"], mount["mountPath"])
        for one in (*spec["initContainers"], *spec["containers"])
        for mount in one.get("volumeMounts", [])
    ]
    assert mounts == [(WAITER, VOLUME, MOUNT_PATH)]
    sources = spec["volumes"][-1]["projected"]["sources"]
    assert [next(iter(source)) for source in sources] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    assert "audience" not in sources[0]["serviceAccountToken"]


@given(SPECS)
def test_it_is_idempotent_and_changes_nothing_of_the_user(spec: dict[str, Any]) -> None:
    before = copy.deepcopy(spec)
    made = with_waiter(spec, PARENTS, IMAGE)
    assert spec == before
    assert with_waiter(made, PARENTS, IMAGE) == made
    assert made["initContainers"][:-1] == (spec.get("initContainers") or [])
    assert made["volumes"][:-1] == (spec.get("volumes") or [])
    others = {"initContainers", "volumes"}
    assert {key: made[key] for key in made.keys() - others} == {
        key: spec[key] for key in spec.keys() - others
    }


def test_another_image_or_other_parents_replace_the_waiter() -> None:
    made = with_waiter(with_waiter(POD_SPEC, PARENTS, IMAGE), PARENTS[:1], "other:2")
    assert len(made["initContainers"]) == 1
    assert waiter_of(made)["args"] == ["--podcliques=llm-0-leader:1"]


def pod_of(account: str = "", older: str = "") -> dict[str, Any]:
    named = {"serviceAccountName": account} if account else {}
    return {"podSpec": POD_SPEC | named | ({"serviceAccount": older} if older else {})}


def a_disaggregated_set(**more: Any) -> Outline:
    """a → b → c, where b and c are scaled together."""
    return Outline(
        a_set(
            "llm",
            a_clique("a", 2, **pod_of("first")),
            a_clique("b", 1, **pod_of("second")),
            a_clique("c", 3, **pod_of()),
            groups=(a_group("sg", "b", "c", replicas=2, least=1),),
            startup=IN_ORDER,
            **more,
        )
    )


def test_only_cliques_that_others_start_after_are_waited_for() -> None:
    assert waited_for(a_disaggregated_set(), {}) == (
        "llm-0-a",
        "llm-0-sg-0-b",
        "llm-0-sg-1-b",
    )


@pytest.mark.parametrize(
    ("live", "names"),
    [
        pytest.param(3, ["llm-0-a", "llm-0-sg-0-b", "llm-0-sg-1-b", "llm-0-sg-2-b"], id="out"),
        pytest.param(1, ["llm-0-a", "llm-0-sg-0-b"], id="in"),
        pytest.param(0, [], id="to nothing, where nobody is left to wait"),
    ],
)
def test_scaling_groups_count_as_they_are_scaled_now(live: int, names: list[str]) -> None:
    assert waited_for(a_disaggregated_set(), {"llm-0-sg": live}) == tuple(names)


def test_every_replica_of_the_set_has_parents_of_its_own() -> None:
    found = waited_for(a_disaggregated_set(replicas=2), {"llm-1-sg": 1})
    assert [name for name in found if name.startswith("llm-1")] == ["llm-1-a", "llm-1-sg-0-b"]


def test_where_nobody_waits_nobody_is_waited_for() -> None:
    outline = Outline(a_set("llm", a_clique("a"), a_clique("b")))
    assert waited_for(outline, {}) == ()
    assert accounts(outline) == ()


def test_the_accounts_are_those_that_waiting_pods_run_under() -> None:
    assert accounts(a_disaggregated_set()) == ("default", "second")


def test_the_older_name_of_an_account_is_read_too() -> None:
    cliques = (a_clique("a"), a_clique("b", startsAfter=["a"], **pod_of(older="old")))
    assert accounts(Outline(a_set("llm", *cliques, startup=EXPLICIT))) == ("old",)


def test_the_role_names_what_may_be_read_and_nothing_else() -> None:
    owning = a_set("llm")
    made = to_builtins(role(owning, ["llm-0-a", "llm-0-b"]))
    assert made["rules"] == [
        {
            "apiGroups": ["grove.io"],
            "resources": ["podcliques"],
            "resourceNames": ["llm-0-a", "llm-0-b"],
            "verbs": ["get", "list", "watch"],
        }
    ]
    assert made["metadata"]["name"] == "grove.io:pcs:llm"
    assert made["metadata"]["labels"]["app.kubernetes.io/name"] == "grove.io-pcs-llm"
    assert made["metadata"]["ownerReferences"][0]["uid"] == owning.metadata.uid


@pytest.mark.parametrize("length", [50, 51, 61])
def test_rights_of_a_set_with_a_long_name_can_be_stored(length: int) -> None:
    owning = a_set("x" * length)
    for made in (role(owning, ["a"]), binding(owning, ["default"])):
        name = made.metadata.labels["app.kubernetes.io/name"]
        assert label_value_problem(name) is None
        assert name.startswith("grove.io-pcs-xxx")


def test_the_binding_grants_it_to_service_accounts_of_the_same_namespace() -> None:
    made = to_builtins(binding(a_set("llm"), ["default", "second"]))
    assert made["roleRef"]["name"] == made["metadata"]["name"] == "grove.io:pcs:llm"
    assert made["subjects"] == [
        {"kind": "ServiceAccount", "name": name, "namespace": "default"}
        for name in ("default", "second")
    ]
