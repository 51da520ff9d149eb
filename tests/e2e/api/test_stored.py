# SPDX-License-Identifier: Apache-2.0
"""What is written is what is stored: the proposals' examples, Grove's objects, and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.e2e.api.served import MANIFESTS, create, manifest, place
from trellis.api.grove.podclique import PodClique, PodCliqueSpec
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup, PodCliqueScalingGroupSpec
from trellis.api.meta import Metadata, Object, encode, to_builtins
from trellis.api.scheduler.podgang import (
    GangTopologyConstraint,
    NamespacedName,
    PackConstraint,
    PodGang,
    PodGangSpec,
    PodGroup,
)
from trellis.api.schema.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

TYPES = {served.type.resource.kind: served.type for served in KINDS}
# What the schema adds where nothing was said.
DEFAULTS = {"cliqueStartupType", "replicas", "minAvailable", "type"}
OURS: list[Object] = [
    PodClique(
        metadata=Metadata(name="a-0-router", labels={"app": "a"}),
        spec=PodCliqueSpec(
            role_name="router",
            replicas=2,
            min_available=1,
            pod_spec=msgspec.Raw(b'{"containers":[{"name":"main","image":"a:1"}]}'),
        ),
    ),
    PodCliqueScalingGroup(
        metadata=Metadata(name="a-0-prefill"),
        spec=PodCliqueScalingGroupSpec(clique_names=("leader",)),
    ),
    PodGang(
        metadata=Metadata(name="a-0", annotations={"trellis.dev/placement": "wait"}),
        spec=PodGangSpec(
            podgroups=(
                PodGroup(
                    name="a-0-router",
                    min_replicas=1,
                    pod_references=(NamespacedName(namespace="n", name="a-0-router-0-bcdfg"),),
                ),
            ),
            topology_constraint=GangTopologyConstraint(
                pack_constraint=PackConstraint(required="topology.kubernetes.io/rack")
            ),
        ),
    ),
]


def additions(stored: Any, given: Any, path: str = "") -> Iterator[str]:
    """Where what is stored says more than what was given. That it says other is a failure."""
    if isinstance(given, dict):
        assert given.keys() <= stored.keys(), f"{path}: {given.keys() - stored.keys()} went missing"
        yield from (name for name in stored if name not in given)
        for name, inner in given.items():
            yield from additions(stored[name], inner, f"{path}.{name}")
    elif isinstance(given, list):
        assert len(stored) == len(given), path
        for index, inner in enumerate(given):
            yield from additions(stored[index], inner, f"{path}[{index}]")
    else:
        assert (stored, type(stored)) == (given, type(given)), path


@pytest.mark.parametrize("name", [path.stem for path in MANIFESTS])
async def test_a_manifest_is_stored_whole(defined: Cluster, namespace: str, name: str) -> None:
    given = manifest(name)
    given["metadata"].pop("finalizers", None)
    path = f"{place(given['kind'], namespace)}/{given['metadata']['name']}"
    stored = await create(defined.api, namespace, given)
    try:
        assert set(additions(stored["spec"], given["spec"])) <= DEFAULTS
        assert given["metadata"].items() <= stored["metadata"].items()
        if "status" in given:
            status = {"status": given["status"]}
            stored = await defined.api.do("PATCH", f"{path}/status", status, patch="merge")
            assert list(additions(stored["status"], given["status"])) == []
        # Our types read all of it, too.
        msgspec.json.decode(msgspec.json.encode(stored), type=TYPES[given["kind"]])
    finally:
        await defined.api.do("DELETE", path)


@pytest.mark.parametrize("value", OURS, ids=[type(one).__name__ for one in OURS])
async def test_what_our_types_write_is_stored_and_read_back(
    defined: Cluster, namespace: str, value: Object
) -> None:
    stored = await create(defined.api, namespace, msgspec.json.decode(encode(value)))
    read: Any = msgspec.json.decode(msgspec.json.encode(stored), type=type(value))
    written: Any = value
    # The server orders keys as it likes, also within raw parts.
    assert to_builtins(read.spec) == to_builtins(written.spec)
    assert read.status == written.status
    assert read.metadata.annotations == value.metadata.annotations


async def test_defaults_are_filled_in_where_nothing_was_said(
    defined: Cluster, namespace: str
) -> None:
    given = manifest("seed-000-group")
    del given["spec"]["replicas"]
    group = given["spec"]["template"]["podCliqueScalingGroups"][0]
    del group["replicas"], group["minAvailable"]
    given["spec"] |= {"updateStrategy": {}}
    given["spec"]["template"] |= {"headlessServiceConfig": {}}
    spec = (await create(defined.api, namespace, given))["spec"]
    assert spec["replicas"] == 0
    assert spec["updateStrategy"] == {"type": "RollingRecreate"}
    assert spec["template"]["cliqueStartupType"] == "CliqueStartupTypeAnyOrder"
    assert spec["template"]["headlessServiceConfig"] == {"publishNotReadyAddresses": True}
    group = spec["template"]["podCliqueScalingGroups"][0]
    assert (group["replicas"], group["minAvailable"]) == (1, 1)
