# SPDX-License-Identifier: Apache-2.0
"""The wiring: the one list of every controller and every webhook. It decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from trellis.app.manifests.components import CLUSTER_TOPOLOGY
from trellis.app.manifests.workloads import (
    POD_CLIQUE,
    POD_CLIQUE_SCALING_GROUP,
    POD_CLIQUE_SET,
    POD_GANG,
)
from trellis.runtime.controller import Controller
from trellis.topology.admission import binding_handler, clustertopology_handler
from trellis.topology.reconciler import clustertopology
from trellis.webhooks.verdict import Handler
from trellis.workloads import means as workload_means
from trellis.workloads.admission.authorizer import Guard, authorizing
from trellis.workloads.admission.podcliqueset import defaulting, validating
from trellis.workloads.admission.policy import NOTHING, Policy, Stored
from trellis.workloads.admission.scaling import scaling
from trellis.workloads.admission.view import read_by_admission, stored
from trellis.workloads.auditor.auditor import Auditor
from trellis.workloads.caches import Caches
from trellis.workloads.podclique.reconciler import controller as podclique
from trellis.workloads.podcliqueset.reconciler import controllers as podcliqueset
from trellis.workloads.podgang.reconciler import controller as podgang
from trellis.workloads.scalinggroup.reconciler import controller as podcliquescalinggroup

if TYPE_CHECKING:
    from trellis.api.config import OperatorConfiguration
    from trellis.app.manifests.declarations import Component
    from trellis.kube.client import Client
    from trellis.runtime.cache import Cache
    from trellis.runtime.env import Env
    from trellis.topology.guard import Operator

Controllers: TypeAlias = tuple[Controller[Any], ...]
Handlers: TypeAlias = Mapping[str, Handler]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every part may be made from. Parts of one process share their caches."""

    configuration: OperatorConfiguration
    client: Client
    server: str
    """The address of the API server, to be named to people."""
    env: Env
    operator: Operator
    waiter_image: str
    caches: Caches = field(default_factory=Caches)

    @property
    def workloads(self) -> workload_means.Means:
        return workload_means.Means(
            configuration=self.configuration, env=self.env, waiter_image=self.waiter_image
        )


def _nothing(_: Means) -> Handlers:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A component with what runs for it: its controllers, and its webhooks by path.

    `reads` is what its webhooks look at, `beside` what goes on for ever beside its controllers.
    """

    component: Component
    controllers: Callable[[Means], Controllers]
    handlers: Callable[[Means], Handlers] = _nothing
    reads: Callable[[Means], tuple[Cache[Any], ...]] = lambda _: ()
    beside: Callable[[Means], tuple[Coroutine[Any, Any, None], ...]] = lambda _: ()

    @property
    def name(self) -> str:
        return self.component.name


def parts() -> tuple[Part, ...]:
    """Everything there is, in the order in which it is told to users."""
    return (
        Part(
            component=CLUSTER_TOPOLOGY,
            controllers=lambda means: (
                clustertopology(means.configuration.topology, means.env.clock),
            ),
            handlers=lambda means: {
                "/webhooks/validate-clustertopology": clustertopology_handler(
                    means.operator.username
                ),
                "/webhooks/validate-clustertopologybinding": binding_handler,
            },
        ),
        Part(
            component=POD_CLIQUE_SET,
            controllers=lambda means: podcliqueset(means.workloads, means.caches),
            handlers=lambda means: workload_handlers(
                means.configuration, means.operator.username, stored(means.caches)
            ),
            reads=lambda means: read_by_admission(means.caches),
            beside=lambda means: (Auditor(means.caches, means.env).run(),),
        ),
        Part(
            component=POD_CLIQUE_SCALING_GROUP,
            controllers=lambda means: (podcliquescalinggroup(means.workloads, means.caches),),
        ),
        Part(
            component=POD_GANG,
            controllers=lambda means: (podgang(means.workloads, means.caches),),
        ),
        Part(
            component=POD_CLIQUE,
            controllers=lambda means: (podclique(means.workloads, means.caches),),
        ),
    )


def workload_handlers(
    configuration: OperatorConfiguration, operator: str, view: Stored = NOTHING
) -> Handlers:
    """The webhooks of PodCliqueSets and of what is made for them, by path."""
    policy = Policy.of(configuration)
    guard = Guard(operator=operator, settings=configuration.authorizer, stored=view)
    return {
        "/webhooks/default-podcliqueset": defaulting,
        "/webhooks/validate-podcliqueset": validating(policy, view),
        "/webhooks/validate-scale": scaling(policy, view),
        "/webhooks/authorizer-webhook": authorizing(guard),
    }
