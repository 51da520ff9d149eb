# SPDX-License-Identifier: Apache-2.0
"""Under which names the operator is installed, and the processes that its pods run.

Names and labels are those of Grove's chart: applied over it, ours takes its place, and the two
never work side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis import __version__
from trellis.api.labels import COMPONENT, NAME, OPERATOR, PART_OF

if TYPE_CHECKING:
    from trellis.app.manifests.declarations import Manifest

VERSION = "app.kubernetes.io/version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a container asks of a node, and what it may take at most."""

    cpu: str
    memory: str
    most_cpu: str
    most_memory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One container. All containers of a pod share its ports, so each process has its own."""

    name: str
    configuration: str
    """The file with its configuration."""
    health: int
    metrics: int
    needs: Needs
    port_prefix: str = ""


# A process of Python has use for one core. What it may take beyond that is for its helper threads.
CONTROLLERS = Process(
    name=OPERATOR,
    configuration="config.yaml",
    health=9444,
    metrics=9445,
    needs=Needs(cpu="100m", memory="256Mi", most_cpu="2", most_memory="1Gi"),
)
# What `--controllers` calls the admission server, too.
WEBHOOKS = Process(
    name="webhooks",
    configuration="webhooks.yaml",
    health=9446,
    metrics=9447,
    needs=Needs(cpu="50m", memory="128Mi", most_cpu="2", most_memory="512Mi"),
    port_prefix="webhook-",
)
PROCESSES = (CONTROLLERS, WEBHOOKS)
WEBHOOK_PORT = 9443


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One installation. `name` is that of the ServiceAccount, the Deployment and the Service."""

    namespace: str = "grove-system"
    name: str = OPERATOR
    # There is no registry of ours. A name that any other could own would be an invitation.
    image: str = "localhost/trellis"
    version: str = __version__
    replicas: int = 2

    @property
    def subject(self) -> Manifest:
        """Who the operator is to those who grant."""
        return {"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}

    @property
    def selector(self) -> dict[str, str]:
        """The labels of our pods, and of no others."""
        return {NAME: OPERATOR, COMPONENT: "operator-deployment", PART_OF: "grove"}

    def metadata(self, name: str, component: str) -> Manifest:
        """For an object without a namespace."""
        labels = {NAME: OPERATOR, COMPONENT: f"operator-{component}", PART_OF: "grove"}
        return {"name": name, "labels": labels | {VERSION: self.version}}

    def namespaced(self, name: str, component: str) -> Manifest:
        """For an object in the operator's namespace."""
        head = {"name": name, "namespace": self.namespace}
        return head | self.metadata(name, component)
