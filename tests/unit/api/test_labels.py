# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.api import annotation, labels
from trellis.api.labels import CliquePlace, Component, GroupPlace
from trellis.api.syntax import label_key_problem, label_value_problem

MEMBER = CliquePlace(
    set_name="llm",
    set_replica=0,
    clique="leader",
    gang="llm-0-prefill-0",
    base_gang="llm-0",
    group=GroupPlace(name="prefill", full_name="llm-0-prefill", replica=2),
)


def test_every_object_says_who_made_it_for_what() -> None:
    assert labels.common("llm", "llm-0", Component.SERVICE) == {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "app.kubernetes.io/name": "llm-0",
        "app.kubernetes.io/component": "pcs-headless-service",
        "grove.io/pcs-name": "llm",
    }


def test_a_role_has_a_legal_name_label_and_gangs_and_claims_have_none() -> None:
    role = labels.common("llm", "grove.io:pcs:llm", Component.ROLE)
    assert role["app.kubernetes.io/name"] == "grove.io-pcs-llm"
    for component in (Component.POD_GANG, Component.RESOURCE_CLAIM):
        assert "app.kubernetes.io/name" not in labels.common("llm", "llm-0", component)


def test_a_member_of_a_scaled_gang_has_both_families_of_labels() -> None:
    assert labels.of_clique(MEMBER) == {
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podcliquescalinggroup": "llm-0-prefill",
        "grove.io/podcliquescalinggroup-replica-index": "2",
        "grove.io/podgang": "llm-0-prefill-0",
        "grove.io/base-podgang": "llm-0",
        "grove.io/pcs-name": "llm",
        "grove.io/pcs-replica-index": "0",
        "grove.io/pcsg-name": "prefill",
        "grove.io/pcsg-replica-index": "2",
        "grove.io/clique-name": "leader",
    }


def test_a_clique_of_the_base_gang_names_no_base_gang_and_no_group() -> None:
    place = CliquePlace(set_name="llm", set_replica=1, clique="router", gang="llm-1")
    found = labels.of_clique(place)
    assert labels.BASE_POD_GANG not in found
    assert labels.SCALING_GROUP not in found
    assert labels.SHORT_GROUP_NAME not in found


def test_a_pod_adds_its_clique_index_and_template() -> None:
    assert labels.of_pod("llm-0-router", 3, "v1-ab") == {
        "grove.io/podclique": "llm-0-router",
        "grove.io/podclique-pod-index": "3",
        "grove.io/pod-template-hash": "v1-ab",
    }


def test_the_selector_of_a_set_is_the_one_that_autoscalers_know() -> None:
    assert labels.selector(labels.managed("llm")) == (
        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm"
    )


def test_every_key_and_value_of_ours_is_legal() -> None:
    for module in (labels, annotation):
        known = ((name, value) for name, value in vars(module).items() if isinstance(value, str))
        keys = [value for name, value in known if name.isupper() and "/" in value]
        assert keys
        for key in keys:
            assert label_key_problem(key) is None, key
    for component in Component:
        assert label_value_problem(component.value) is None


def test_what_is_ours_alone_has_our_prefix() -> None:
    ours = {annotation.PLACEMENT, annotation.POD_LEDGER, annotation.HASH_ALIASES}
    assert all(key.startswith("trellis.dev/") for key in ours)
