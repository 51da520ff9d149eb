# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trellis.api import names
from trellis.api.syntax import dns_label_problem, dns_subdomain_problem

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?", fullmatch=True)
LONG = st.text("ab-09", max_size=90).map(lambda middle: f"a{middle}z")
TOO_LONG = st.text("ab-09", min_size=61, max_size=90).map(lambda middle: f"a{middle}z")


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param(names.set_replica("llm", 0), "llm-0", id="base gang and Service"),
        pytest.param(
            names.service_host("llm", 1, "team"),
            "llm-1.team.svc.cluster.local",
            id="where pods of a replica find each other",
        ),
        pytest.param(
            names.service_host("llm", 1, "team", "example.org"),
            "llm-1.team.svc.example.org",
            id="in a cluster with another domain",
        ),
        pytest.param(names.clique("llm", 0, "router"), "llm-0-router", id="clique"),
        pytest.param(names.scaling_group("llm", 0, "prefill"), "llm-0-prefill", id="group"),
        pytest.param(names.group_replica("llm-0-prefill", 2), "llm-0-prefill-2", id="its replica"),
        pytest.param(
            names.member_clique("llm-0-prefill", 2, "leader"),
            "llm-0-prefill-2-leader",
            id="clique of a group",
        ),
        pytest.param(
            names.scaled_gang("llm-0-prefill", 3, 3), "llm-0-prefill-0", id="first scaled gang"
        ),
        pytest.param(
            names.scaled_gang("llm-0-prefill", 5, 3), "llm-0-prefill-2", id="third scaled gang"
        ),
        pytest.param(names.hostname("llm-0-router", 4), "llm-0-router-4", id="host name"),
        pytest.param(names.pod("llm-0-router", 4, "x2zb9"), "llm-0-router-4-x2zb9", id="pod"),
        pytest.param(names.role("llm"), "grove.io:pcs:llm", id="role"),
        pytest.param(names.token_secret("llm"), "llm-ic-sat", id="token secret"),
        pytest.param(
            names.legacy_token_secret("llm"), "llm-initc-sa-token-secret", id="older token secret"
        ),
        pytest.param(names.shared_claim("llm", "gpu"), "llm-all-gpu", id="claim of all"),
        pytest.param(names.shared_claim("llm", "gpu", 0), "llm-0-gpu", id="claim of one replica"),
        pytest.param(
            names.compute_domain("scalable-inference-0-inference-pool-0"),
            "scalable-inference-0-inference-pool-0-cd",
            id="compute domain",
        ),
        pytest.param(
            names.fabric_claim("distributed-training-0"),
            "distributed-training-0-mnnvl-claim",
            id="its claim",
        ),
        pytest.param(
            names.group_compute_domain("llm", 1, "train"), "llm-1-train", id="of an MNNVL group"
        ),
    ],
)
def test_names_are_those_that_clients_compute(name: str, want: str) -> None:
    assert name == want


def test_a_replica_of_the_base_gang_has_no_scaled_gang() -> None:
    with pytest.raises(ValueError, match="replica 1 of g is one of the 2 in the base gang"):
        names.scaled_gang("g", 1, 2)


@given(LABELS, st.integers(0, 10**9 - 1), LABELS)
def test_the_replica_of_a_set_is_read_back_from_the_names_of_what_it_has(
    name: str, replica: int, part: str
) -> None:
    made = (
        names.set_replica(name, replica),
        names.clique(name, replica, part),
        names.scaling_group(name, replica, part),
    )
    assert {names.replica_of(name, one) for one in made} == {replica}


@pytest.mark.parametrize(
    "name",
    ["llm", "llm-", "llm-x", "llm-02", "llm-1x", "llm0", "llm-0.w", "other-0", "0", "-0", "llm-٣"],
)
def test_a_name_that_no_replica_of_the_set_has_says_none(name: str) -> None:
    assert names.replica_of("llm", name) is None


def test_a_number_without_end_is_no_replica() -> None:
    assert names.replica_of("llm", f"llm-{'9' * 40}") is None


@given(LABELS, st.integers(0, 999), st.integers(0, 999), LABELS)
def test_names_of_one_set_are_different_by_index(
    set_name: str, one: int, other: int, clique: str
) -> None:
    assume(one != other)
    assert names.clique(set_name, one, clique) != names.clique(set_name, other, clique)
    assert names.clique(set_name, one, clique) != names.clique(set_name, one, f"{clique}x")


@given(LONG | TOO_LONG)
def test_a_fitted_name_is_legal_and_short_enough(name: str) -> None:
    fitted = names.fitted(name)
    assert dns_label_problem(fitted) is None
    assert fitted == name or (len(fitted) == 63 and fitted.startswith(name[:52].rstrip("-")))


@given(LONG | TOO_LONG, LONG | TOO_LONG)
def test_different_names_stay_different(one: str, other: str) -> None:
    assume(one != other)
    assert names.fitted(one) != names.fitted(other)


@given(TOO_LONG)
def test_no_name_can_be_chosen_to_equal_the_short_form_of_another(name: str) -> None:
    short = names.fitted(name)
    assert names.fitted(short) != short


def test_a_head_that_would_end_in_a_dash_is_cut_before_it() -> None:
    name = "a" * 50 + "-" * 5 + "b" * 60
    assert re.fullmatch(r"a{50}-[a-z0-9]{12}", names.fitted(name))
    assert len(names.fitted(name, limit=40)) == 40


@given(st.lists(st.text(max_size=20), max_size=4))
def test_the_suffix_of_a_pod_is_decided_by_identity(identity: list[str]) -> None:
    suffix = names.pod_suffix(*identity)
    assert re.fullmatch("[bcdfghjklmnpqrstvwxz2456789]{5}", suffix)
    assert suffix == names.pod_suffix(*identity)


def test_the_suffix_tells_identities_apart_that_read_the_same() -> None:
    assert names.pod_suffix("ab", "c") != names.pod_suffix("a", "bc")


@given(LABELS, st.integers(0, 4_999))
def test_a_pod_may_be_called_so(clique: str, index: int) -> None:
    name = names.pod(clique, index, "x2zb9")
    assert dns_subdomain_problem(name) is None
    assert len(name) <= 63
    assert names.pod_index_of(name) == index


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("llm-0-router-x2zb9", id="as Grove makes them, without an index"),
        pytest.param("llm-0-router-07-x2zb9", id="a number that is no index"),
        pytest.param("llm-0-router-7-x2zbaa", id="another suffix"),
        pytest.param("7-x2zb9", id="no clique"),
        pytest.param("llm-0-router-٣-x2zb9", id="a digit of another script"),
        pytest.param("llm-0-router-7-x2zb9\n", id="a line too many"),
    ],
)
def test_a_name_that_we_did_not_make_has_no_index(name: str) -> None:
    assert names.pod_index_of(name) is None
