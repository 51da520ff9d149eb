# SPDX-License-Identifier: Apache-2.0
"""Levels in the order of the network, and what of them KAI can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.topologies import KEYS, a_level, levels
from tests.unit.topology.builders import a_binding, a_topology
from trellis.api.grove.clustertopology import BINDING_LEVELS_LIMIT, DOMAINS, BindingLevel
from trellis.api.labels import HOSTNAME
from trellis.topology.kai import for_kai, kai_topology
from trellis.topology.levels import domains, in_order, levels_of

if TYPE_CHECKING:
    from trellis.api.grove.clustertopology import TopologyLevel

KAI_LEVELS_LIMIT = 16

configured_levels = st.lists(
    st.sampled_from(DOMAINS), min_size=1, max_size=len(DOMAINS), unique=True
).flatmap(
    lambda chosen: st.permutations(list(KEYS.values())).map(
        lambda keys: tuple(a_level(domain, key) for domain, key in zip(chosen, keys, strict=False))
    )
)
bound_levels = st.lists(
    st.tuples(
        st.sampled_from((*DOMAINS, "nvl-block", "island")),
        st.sampled_from((*KEYS.values(), *(f"example.com/level-{n}" for n in range(12)))),
    ),
    min_size=1,
    max_size=BINDING_LEVELS_LIMIT,
    unique_by=(lambda level: level[0], lambda level: level[1]),
).map(lambda pairs: tuple(BindingLevel(domain=domain, key=key) for domain, key in pairs))


@given(configured_levels)
def test_the_order_of_listing_does_not_matter(listed: tuple[TopologyLevel, ...]) -> None:
    ordered = in_order(listed)
    assert [level.domain for level in ordered] == [
        domain for domain in DOMAINS if domain in {level.domain for level in listed}
    ]
    assert set(ordered) == set(listed)
    assert in_order(reversed(listed)) == ordered


def test_a_topology_has_its_levels_in_the_order_of_the_network() -> None:
    assert domains(levels_of(a_topology("host", "zone", "rack"))) == "zone, rack, host"


def test_a_level_that_a_later_release_knows_comes_last() -> None:
    shelf = a_level("shelf", "example.com/shelf")
    assert in_order([shelf, *levels("host", "rack")]) == (*levels("rack", "host"), shelf)


def test_a_binding_has_its_levels_in_the_order_of_its_user() -> None:
    binding = a_binding(("island", "example.com/island"), ("zone", "example.com/zone"))
    assert domains(levels_of(binding)) == "island, zone"


@pytest.mark.parametrize(
    ("known", "told"),
    [
        pytest.param(levels("zone", "rack"), "zone, rack", id="all of them"),
        pytest.param(levels("rack", "host", "numa"), "rack, host", id="nothing inside a node"),
        pytest.param(levels("rack", "numa"), "rack", id="numa is left out without a host too"),
        pytest.param(levels("numa"), "", id="numa alone is nothing"),
        pytest.param(
            (a_level("rack", HOSTNAME), a_level("host", "example.com/host")),
            "rack",
            id="nothing below the hostname label, whatever the level is called",
        ),
        pytest.param(
            (a_level("host", "example.com/host"), a_level("numa", HOSTNAME)),
            "host",
            id="numa is left out whatever its label is",
        ),
    ],
)
def test_kai_is_told(known: tuple[TopologyLevel, ...], told: str) -> None:
    assert domains(for_kai(known)) == told


@given(st.one_of(configured_levels.map(in_order), bound_levels))
def test_what_kai_is_told_keeps_to_its_rules(
    known: tuple[TopologyLevel | BindingLevel, ...],
) -> None:
    told = for_kai(known)
    labels = [level.key for level in told]
    assert "numa" not in {level.domain for level in told}
    assert len(labels) <= KAI_LEVELS_LIMIT
    assert len(set(labels)) == len(labels)
    assert HOSTNAME not in labels[:-1]
    assert told == tuple(level for level in known if level in told)


def test_kais_topology_has_the_name_the_labels_and_the_owner() -> None:
    made = kai_topology(a_topology(), levels("rack", "host"))
    assert [level.node_label for level in made.spec.levels] == [KEYS["rack"], HOSTNAME]
    assert (made.metadata.name, made.metadata.namespace) == ("grove-topology", "")
    owner = made.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == (
        "ClusterTopology",
        "grove-topology",
        "uid-topology",
    )
    assert owner.api_version == "grove.io/v1alpha1"
