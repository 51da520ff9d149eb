# SPDX-License-Identifier: Apache-2.0
"""The wiring: the one list of every controller and every webhook. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trellis.app.manifests.components import CLUSTER_TOPOLOGY
from trellis.app.manifests.workloads import WORKLOAD_WEBHOOKS
from trellis.topology.admission import binding_handler, clustertopology_handler
from trellis.topology.reconciler import clustertopology
from trellis.workloads.admission.authorizer import Guard, authorizing
from trellis.workloads.admission.podcliqueset import defaulting, validating
from trellis.workloads.admission.policy import Policy
from trellis.workloads.admission.scaling import scaling

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
            # Webhooks are served whichever controllers run, so those of PodCliqueSets need none.
            component=replace(
                CLUSTER_TOPOLOGY, webhooks=(*CLUSTER_TOPOLOGY.webhooks, *WORKLOAD_WEBHOOKS)
            ),
            controller=lambda means: clustertopology(means.configuration.topology, means.env.clock),
            handlers=lambda means: {
                "/webhooks/validate-clustertopology": clustertopology_handler(
                    means.operator.username
                ),
                "/webhooks/validate-clustertopologybinding": binding_handler,
                **workload_handlers(means.configuration, means.operator.username),
            },
        ),
    )


def workload_handlers(configuration: OperatorConfiguration, operator: str) -> Mapping[str, Handler]:
    """The webhooks of PodCliqueSets and of what is made for them, by path."""
    policy = Policy.of(configuration)
    return {
        "/webhooks/default-podcliqueset": defaulting,
        "/webhooks/validate-podcliqueset": validating(policy),
        "/webhooks/validate-scale": scaling(policy),
        "/webhooks/authorizer-webhook": authorizing(
            Guard(operator=operator, settings=configuration.authorizer)
        ),
    }
