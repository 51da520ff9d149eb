# SPDX-License-Identifier: Apache-2.0
"""What every controller may be made from: who asks, who writes, and the caches that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.embedded.controllers.kinds import (
    Claim,
    Deployment,
    Namespace,
    Node,
    Pod,
    ReplicaSet,
)
from trellis.runtime.cache import Cache
from trellis.runtime.index import Index

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.embedded.controllers.collecting.census import Census
    from trellis.embedded.controllers.pen import Pen
    from trellis.kube.client import Client
    from trellis.runtime.env import Env
    from trellis.runtime.recorder import Recorder

BY_NAMESPACE: Index[Any] = Index("namespace", lambda found: (found.metadata.namespace,))
BY_NODE: Index[Pod] = Index("node", lambda pod: (pod.spec.node_name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`root_ca` is the PEM that pods are to trust. `catalogue` knows the schemas of all kinds.

    Without a catalogue, nobody checks the types of admission policies.
    """

    root_ca: str = ""
    catalogue: Any = None
    job_backoff_seconds: float = 10.0
    """How long a Job waits after the first pod that failed; it doubles with each further one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    client: Client
    env: Env
    pen: Pen
    recorder: Recorder
    census: Census
    options: Options
    pods: Cache[Pod] = field(
        default_factory=lambda: Cache(Pod.resource, Pod, (BY_NAMESPACE, BY_NODE))
    )
    nodes: Cache[Node] = field(default_factory=lambda: Cache(Node.resource, Node))
    namespaces: Cache[Namespace] = field(
        default_factory=lambda: Cache(Namespace.resource, Namespace)
    )
    replica_sets: Cache[ReplicaSet] = field(
        default_factory=lambda: Cache(ReplicaSet.resource, ReplicaSet, (BY_NAMESPACE,))
    )
    deployments: Cache[Deployment] = field(
        default_factory=lambda: Cache(Deployment.resource, Deployment)
    )
    claims: Cache[Claim] = field(
        default_factory=lambda: Cache(Claim.resource, Claim, (BY_NAMESPACE,))
    )

    def now(self) -> datetime:
        return self.env.clock.now()
