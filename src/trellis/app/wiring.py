# SPDX-License-Identifier: Apache-2.0
"""The wiring: the one list of every controller and every webhook. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.app.manifests.components import CLUSTER_TOPOLOGY
from trellis.topology.admission import binding_handler, clustertopology_handler
from trellis.topology.reconciler import clustertopology

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.api.config import OperatorConfiguration
    from trellis.app.manifests.declarations import Component
    from trellis.kube.client import Client
    from trellis.runtime.controller import Controller
    from trellis.runtime.env import Env
    from trellis.topology.guard import Operator
    from trellis.webhooks.verdict import Handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every part may be made from."""

    configuration: OperatorConfiguration
    client: Client
    server: str
    """The address of the API server, to be named to people."""
    env: Env
    operator: Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A component with what runs for it: its controller, and its webhooks by path."""

    component: Component
    controller: Callable[[Means], Controller[Any]]
    handlers: Callable[[Means], Mapping[str, Handler]]

    @property
    def name(self) -> str:
        return self.component.name


def parts() -> tuple[Part, ...]:
    """Everything there is, in the order in which it is told to users."""
    return (
        Part(
            component=CLUSTER_TOPOLOGY,
            controller=lambda means: clustertopology(means.configuration.topology, means.env.clock),
            handlers=lambda means: {
                "/webhooks/validate-clustertopology": clustertopology_handler(
                    means.operator.username
                ),
                "/webhooks/validate-clustertopologybinding": binding_handler,
            },
        ),
    )
