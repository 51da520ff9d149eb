# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from tests.unit.api.builders import NOON, POD_SPEC, raw
from trellis.api.core.pod import Pod
from trellis.api.core.rbac import Role, RoleBinding, RoleReference, Subject
from trellis.api.grove.autoscaling import AutoScalingConfig
from trellis.api.grove.podclique import PodClique, PodCliqueSpec, PodCliqueStatus
from trellis.api.meta import (
    Key,
    Metadata,
    OwnerReference,
    encode,
    owner,
    to_builtins,
    to_micro_time,
    to_seconds,
)

CLIQUE = PodClique(
    metadata=Metadata(name="a-0-worker", namespace="team", uid="1-2", generation=3),
    spec=PodCliqueSpec(role_name="worker", replicas=2, pod_spec=raw(POD_SPEC)),
)


def test_what_is_encoded_says_its_kind_and_leaves_out_what_is_not_set() -> None:
    assert msgspec.json.decode(encode(CLIQUE)) == {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": "a-0-worker", "namespace": "team", "uid": "1-2", "generation": 3},
        "spec": {"roleName": "worker", "replicas": 2, "podSpec": POD_SPEC},
    }


def test_a_core_kind_has_no_group_before_its_version() -> None:
    assert encode(Pod(metadata=Metadata(name="a"))).startswith(b'{"apiVersion":"v1","kind":"Pod",')


def test_a_count_of_nothing_is_something_to_say() -> None:
    status = to_builtins(PodCliqueStatus())
    assert status == {
        "replicas": 0,
        "readyReplicas": 0,
        "updatedReplicas": 0,
        "scheduleGatedReplicas": 0,
        "scheduledReplicas": 0,
    }


def test_a_default_that_the_server_wants_to_see_is_written_out() -> None:
    binding = RoleBinding(
        metadata=Metadata(name="b"),
        role_ref=RoleReference(kind="Role", name="r"),
        subjects=(Subject(kind="ServiceAccount", name="s", namespace="team"),),
    )
    assert to_builtins(binding)["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"


def test_unknown_fields_are_dropped_but_raw_ones_keep_theirs() -> None:
    text = (
        b'{"kind":"PodClique","metadata":{"name":"a","managedFields":[{"manager":"x"}]},'
        b'"spec":{"roleName":"r","replicas":1,"podSpec":{"fieldOfTheFuture":[1,{"a":2.50}]}}}'
    )
    clique = msgspec.json.decode(text, type=PodClique)
    assert bytes(clique.spec.pod_spec) == b'{"fieldOfTheFuture":[1,{"a":2.50}]}'
    assert b"managedFields" not in encode(clique)


def test_a_raw_field_that_is_not_there_stays_out() -> None:
    config = msgspec.json.decode(b'{"maxReplicas":3}', type=AutoScalingConfig)
    assert msgspec.json.encode(config) == b'{"maxReplicas":3}'
    with_metrics = msgspec.json.decode(b'{"maxReplicas":3,"metrics":[{}]}', type=AutoScalingConfig)
    assert to_builtins(with_metrics) == {"maxReplicas": 3, "metrics": [{}]}


def test_a_role_without_rules_may_come_with_null() -> None:
    assert msgspec.json.decode(b'{"metadata":{},"rules":null}', type=Role).rules is None


def test_an_object_controls_a_child_by_its_uid() -> None:
    reference = owner(CLIQUE)
    assert reference == OwnerReference(
        api_version="grove.io/v1alpha1",
        kind="PodClique",
        name="a-0-worker",
        uid="1-2",
        controller=True,
        block_owner_deletion=True,
    )
    other = OwnerReference(api_version="v1", kind="Node", name="n", uid="3")
    child = Metadata(name="pod", owner_references=(other, reference))
    assert child.controller == reference
    assert Metadata(name="pod", owner_references=(other,)).controller is None


@pytest.mark.parametrize(
    ("key", "text"), [(Key("team", "a"), "team/a"), (Key("", "node-1"), "node-1")]
)
def test_a_key_reads_as_people_write_it(key: Key, text: str) -> None:
    assert str(key) == text


def test_an_object_is_deleting_from_when_the_server_says_so() -> None:
    assert not Metadata(name="a").deleting
    assert Metadata(name="a", deletion_timestamp=NOON).deleting


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"])
def test_what_another_zone_puts_beyond_all_time_is_a_time_all_the_same(text: str) -> None:
    moment = datetime.fromisoformat(text)
    assert to_seconds(moment) == moment.replace(tzinfo=UTC)


def test_times_are_cut_to_what_a_server_keeps() -> None:
    abroad = datetime(2026, 3, 1, 13, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=1)))
    assert to_seconds(abroad) == NOON
    assert to_micro_time(abroad) == "2026-03-01T12:00:00.250000Z"
    # Without the six zeros, Go would not read it.
    assert to_micro_time(NOON) == "2026-03-01T12:00:00.000000Z"
