# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import stored
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.labels import SET_REPLICA_INDEX
from trellis.api.meta import Key
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.desired import scaling_group, service
from trellis.workloads.podcliqueset.shards import (
    BY_REPLICA,
    Shard,
    is_written_anew,
    shard_of_child,
    shards_of_set,
)

OUTLINE = Outline(
    a_set("llm", a_clique("worker"), a_clique("m"), groups=(a_group("g", "m"),), replicas=3)
)


@given(
    name=st.text("ab-9", min_size=1, max_size=8),
    index=st.none() | st.integers(0, 10**9 - 1),
)
def test_a_shard_is_read_back_from_its_key(name: str, index: int | None) -> None:
    shard = Shard(Key("default", name), index)
    assert Shard.of(shard.key) == shard


def test_a_set_wakes_every_replica_that_it_asks_for() -> None:
    wakes = [str(key) for key in shards_of_set(OUTLINE.set)]
    assert wakes == ["default/llm/0", "default/llm/1", "default/llm/2"]


@pytest.mark.parametrize(
    ("name", "key", "filed"),
    [
        pytest.param("llm-2", "default/llm/2", "uid-llm/2", id="its index"),
        pytest.param("llm-70-w-1", "default/llm/70", "uid-llm/70", id="beyond what is asked for"),
        pytest.param("other-1", "default/llm", "uid-llm/", id="not called after its set"),
    ],
)
@pytest.mark.parametrize("label", ["2", "1", "70", "x", None])
def test_a_child_is_filed_by_its_name_and_the_uid_of_its_set_whatever_its_label_says(
    name: str, key: str, filed: str, label: str | None
) -> None:
    made = stored(service(OUTLINE, 2))
    labels = {name: value for name, value in made.metadata.labels.items()}
    labels.pop(SET_REPLICA_INDEX)
    if label is not None:
        labels[SET_REPLICA_INDEX] = label
    metadata = structs.replace(made.metadata, name=name, labels=labels)
    found = structs.replace(made, metadata=metadata)

    assert [str(one) for one in shard_of_child(found)] == [key]
    assert list(BY_REPLICA.values(found)) == [filed]


def test_what_a_scaling_group_or_nobody_controls_is_of_no_shard() -> None:
    group = stored(scaling_group(OUTLINE, 0, OUTLINE.groups["g"], None))
    member = clique(OUTLINE, OUTLINE.grouped(0, OUTLINE.groups["g"], 0)[0], group, None)
    made = service(OUTLINE, 0)
    nobodys = structs.replace(made, metadata=structs.replace(made.metadata, owner_references=()))

    for found in (member, nobodys):
        assert list(shard_of_child(found)) == []
        assert list(BY_REPLICA.values(found)) == []


def test_a_new_status_is_no_reason_to_look_at_a_replica() -> None:
    old = stored(scaling_group(OUTLINE, 0, OUTLINE.groups["g"], None))
    status = structs.replace(old.status, available_replicas=5)
    labels = structs.replace(old.metadata, labels={})

    assert not is_written_anew(old, structs.replace(old, status=status))
    assert is_written_anew(old, structs.replace(old, metadata=labels))
