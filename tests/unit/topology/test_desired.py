# SPDX-License-Identifier: Apache-2.0
"""What is to be there, from one look at what is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.topologies import configured, levels
from tests.unit.topology.builders import a_definition, a_kai_topology, a_topology, an_owner
from trellis.api.core.definition import serves
from trellis.api.meta import Time, encode
from trellis.topology.desired import managed, plan
from trellis.topology.state import Kai, State

GOING = Time.fromisoformat("2026-01-01T00:00:00+00:00")
KEEP, DELETE, NOTHING = "keep", "delete", "nothing"


def test_the_managed_topology_is_as_configured_and_in_order() -> None:
    made = managed(configured("host", "region", "rack"))
    assert made is not None
    body = msgspec.json.decode(encode(made))
    assert (body["apiVersion"], body["kind"]) == ("grove.io/v1alpha1", "ClusterTopology")
    assert body["metadata"] == {
        "name": "grove-topology",
        "labels": {"app.kubernetes.io/managed-by": "grove-operator"},
    }
    assert [level["domain"] for level in body["spec"]["levels"]] == ["region", "rack", "host"]


def test_where_it_is_switched_off_there_is_to_be_none() -> None:
    assert managed(configured("rack", enabled=False)) is None


def decided(state: State) -> tuple[str, str, str]:
    """What is done to KAI's Topology, whether the topology is ready then, and for which reason."""
    planned = plan(state)
    without = DELETE if planned.have else NOTHING
    action = KEEP if planned.want else without
    return action, planned.standing.ready.value, planned.standing.reason.token


def a_state(*domains: str, kai: Kai = Kai.READ, **given: Any) -> State:
    return State(topology=a_topology(*domains), kai=kai, **given)


@pytest.mark.parametrize(
    ("state", "want"),
    [
        pytest.param(
            a_state(), (KEEP, "True", "TopologyReady"), id="KAI has none yet: it gets one"
        ),
        pytest.param(
            a_state(holder=a_kai_topology()),
            (KEEP, "True", "TopologyReady"),
            id="KAI has the right one",
        ),
        pytest.param(
            a_state(holder=a_kai_topology("rack")),
            (DELETE, "Unknown", "CreatingChildren"),
            id="one with other levels goes first, because KAI's levels cannot change",
        ),
        pytest.param(
            a_state(holder=a_kai_topology("host", "rack")),
            (DELETE, "Unknown", "CreatingChildren"),
            id="one with the levels in another order goes first",
        ),
        pytest.param(
            a_state(holder=a_kai_topology(deletion_timestamp=GOING)),
            (KEEP, "True", "TopologyReady"),
            id="one that is going is still wanted: converging waits for its end",
        ),
        pytest.param(
            a_state(holder=a_kai_topology(owners=())),
            (NOTHING, "False", "KAITopologyCreationOrUpdateFailed"),
            id="one that nobody owns is left alone",
        ),
        pytest.param(
            a_state(holder=a_kai_topology(owners=[an_owner("uid-x", kind="Platform", name="p")])),
            (NOTHING, "False", "KAITopologyCreationOrUpdateFailed"),
            id="one of somebody else is left alone",
        ),
        pytest.param(
            a_state(holder=a_kai_topology(owners=[an_owner(controller=False)])),
            (NOTHING, "False", "KAITopologyCreationOrUpdateFailed"),
            id="one that merely mentions us is left alone",
        ),
        pytest.param(
            a_state(holder=a_kai_topology(owners=[an_owner("uid-former")])),
            (NOTHING, "Unknown", "CreatingChildren"),
            id="one of the former topology of our name is waited for to be collected",
        ),
        pytest.param(
            a_state("numa"),
            (NOTHING, "True", "TopologyReady"),
            id="there is nothing to tell KAI",
        ),
        pytest.param(
            a_state("numa", holder=a_kai_topology()),
            (DELETE, "True", "TopologyReady"),
            id="there is nothing to tell KAI any more",
        ),
        pytest.param(
            a_state("numa", holder=a_kai_topology(owners=())),
            (NOTHING, "True", "TopologyReady"),
            id="there is nothing to tell KAI, so nobody is in the way",
        ),
        pytest.param(
            a_state(kai=Kai.ABSENT),
            (NOTHING, "True", "TopologyReady"),
            id="KAI is not installed",
        ),
        pytest.param(
            a_state(kai=Kai.UNREAD),
            (NOTHING, "Unknown", "Retrying"),
            id="what KAI has is not known yet",
        ),
    ],
)
def test_plan(state: State, want: tuple[str, str, str]) -> None:
    assert decided(state) == want


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (a_state(), "KAI's Topology grove-topology has rack, host"),
        (a_state("rack", "host", "numa"), "has rack, host, and leaves out numa"),
        (a_state(kai=Kai.ABSENT), "rack, host; KAI is not installed here"),
        (a_state(kai=Kai.ABSENT), "topologies.kai.scheduler/v1alpha1 is not served"),
        (a_state(holder=a_kai_topology(owners=())), "belongs to nobody and is left alone"),
        (
            a_state(holder=a_kai_topology(owners=[an_owner("u", kind="Platform", name="p")])),
            "belongs to Platform p",
        ),
        (a_state("numa"), "KAI has no such level"),
    ],
)
def test_the_message_says(state: State, words: str) -> None:
    assert words in plan(state).standing.message


def test_kai_is_told_every_level_but_those_it_cannot_have() -> None:
    (wanted,) = plan(a_state("host", "numa", "zone", "rack")).want
    assert [level.node_label for level in wanted.spec.levels] == [
        level.key for level in levels("zone", "rack", "host")
    ]


@pytest.mark.parametrize(
    ("definition", "served"),
    [
        pytest.param(a_definition(), True, id="established"),
        pytest.param(a_definition("v1", "v1alpha1"), True, id="beside another version"),
        pytest.param(None, False, id="not there"),
        pytest.param(a_definition("v1"), False, id="in another version only"),
        pytest.param(a_definition(served=False), False, id="no more served"),
        pytest.param(a_definition(established="False"), False, id="not yet established"),
        pytest.param(a_definition(deletion_timestamp=GOING), False, id="being removed"),
    ],
)
def test_whether_a_kind_is_served(definition: Any, served: bool) -> None:
    assert serves(definition, "v1alpha1") is served
