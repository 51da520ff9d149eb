# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.unit.embedded.nodes.builders import a_pod, a_script, tiny_node
from trellis.embedded.nodes.charges import SERVER_REMOVES_SECONDS, Charge
from trellis.embedded.nodes.life import born
from trellis.embedded.nodes.statuses import Place

if TYPE_CHECKING:
    from trellis.embedded.nodes.pods import KubeletPod


def a_charge() -> Charge:
    node, script = tiny_node(), a_script()
    place = Place(host_ip=node.host_ip, pod_ip="10.0.0.1")
    return Charge(uid="uid-1", plan=node, place=place, script=script, life=born(script, 0, 0))


def a_pod_deleted_with(grace: int) -> KubeletPod:
    pod = a_pod()
    return replace(pod, metadata=replace(pod.metadata, deletion_grace_period_seconds=grace))


def test_a_pod_deleted_without_grace_is_left_to_the_server_for_a_moment() -> None:
    charge, pod = a_charge(), a_pod_deleted_with(grace=0)
    assert charge.left_to_the_server(pod, 10.0) == SERVER_REMOVES_SECONDS
    assert charge.left_to_the_server(pod, 10.25) == SERVER_REMOVES_SECONDS - 0.25
    assert charge.left_to_the_server(pod, 10.0 + SERVER_REMOVES_SECONDS) == 0.0


def test_a_pod_deleted_with_grace_is_removed_as_soon_as_it_has_ended() -> None:
    assert a_charge().left_to_the_server(a_pod_deleted_with(grace=30), 10.0) == 0.0
