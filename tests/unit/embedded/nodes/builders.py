# SPDX-License-Identifier: Apache-2.0
"""Pods, scripts and fleets for tests of the simulated nodes."""

from __future__ import annotations

from typing import Any

from trellis.embedded.nodes.behaviour import AT_ONCE, PLAIN, Behaviour
from trellis.embedded.nodes.expanding import NodePlan, expand
from trellis.embedded.nodes.life import Part, Script
from trellis.embedded.nodes.loading import load, ready_made
from trellis.embedded.nodes.pods import Container, KubeletPod, PodMetadata, Spec

E2_FLEET = """\
nodes:
- name: worker-01
  labels: {topology.kubernetes.io/zone: a}
  kernel: 6.8.0-45-generic
  os: {ID: ubuntu, VERSION_ID: "22.04"}
  modules: [nvidia, nvidia_uvm, nvidia_modeset, nvidia_drm]     # remove to simulate DriverMissing
  driver: {version: 550.54.15, cuda: "12.4", toolkit: true}
  gpus:
  - {address: "0000:17:00.0", device: 20b2, class: "0302", model: A100-SXM4-80GB}
  - {address: "0000:65:00.0", device: 26b9, class: "0302", model: L40S}
faults:                                  # timeline, driven by the fake or real clock
- {at: 120s, node: worker-01, gpu: "0000:17:00.0", xid: 79}
- {at: 300s, node: worker-01, dcgm: down, for: 90s}
"""


def e2_node() -> NodePlan:
    return expand(load(E2_FLEET))[0]


def tiny_node() -> NodePlan:
    return expand(ready_made("tiny"))[0]


def a_pod(
    *,
    mains: tuple[str, ...] = ("main",),
    inits: tuple[Container, ...] = (),
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> KubeletPod:
    return KubeletPod(
        metadata=PodMetadata(
            name="pod", namespace="default", uid="uid-1", annotations=annotations or {}
        ),
        spec=Spec(
            node_name="node",
            containers=tuple(Container(name=name, image="image") for name in mains),
            init_containers=inits,
            **spec,
        ),
    )


def a_main(name: str = "main", behaviour: Behaviour = PLAIN) -> Part:
    return Part(name=name, behaviour=behaviour)


def an_init(name: str = "init", behaviour: Behaviour = AT_ONCE) -> Part:
    return Part(name=name, behaviour=behaviour)


def a_script(*mains: Part, inits: tuple[Part, ...] = (), policy: str = "Always") -> Script:
    return Script(policy=policy, inits=inits, mains=mains or (a_main(),))
