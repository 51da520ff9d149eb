# SPDX-License-Identifier: Apache-2.0
"""The operator's configuration, `operator.config.grove.io/v1alpha1`.

Every key of Grove's is here, with Grove's default. What is ours alone is under `trellis`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import field

from trellis.api.grove.clustertopology import TopologyLevel
from trellis.api.meta import ABSENT, Value
from trellis.api.names import CLUSTER_DOMAIN
from trellis.api.schema.marks import mark

API_VERSION = "operator.config.grove.io/v1alpha1"
KIND = "OperatorConfiguration"

DEFAULT_SCHEDULER = "default-scheduler"
SCHEDULERS = ("kai-scheduler", DEFAULT_SCHEDULER, "volcano", "lpx-scheduler")

_CERTIFICATE = "grove-webhook-server-cert"
_PORT = {"minimum": 0, "maximum": 65535}


class ClientConnection(Value, frozen=True, kw_only=True):
    """How Grove limits its requests."""

    qps: Annotated[float, mark("Requests a second.")] = 100
    burst: Annotated[int, mark("Requests above that for a moment.")] = 120
    content_type: Annotated[str, mark("The content type to send.")] = ""
    accept_content_types: Annotated[str, mark("The content types to accept.")] = ""


class LeaderElection(Value, frozen=True, kw_only=True):
    """Which of several operators works."""

    enabled: Annotated[bool, mark("Whether only one of several works.")] = False
    lease_duration: Annotated[str, mark("How long a lease holds.", duration=True)] = "15s"
    renew_deadline: Annotated[
        str, mark("After how long without a renewal a leader gives up.", duration=True)
    ] = "10s"
    retry_period: Annotated[str, mark("How often it is tried.", duration=True)] = "2s"
    resource_lock: Annotated[str, mark("The kind of lock.", enum=["leases"])] = "leases"
    resource_name: Annotated[str, mark("The name of the lease.")] = "grove-operator-leader-election"
    resource_namespace: Annotated[str, mark("Its namespace. The operator's own.")] = ""


class Server(Value, frozen=True, kw_only=True):
    """Where to listen."""

    bind_address: Annotated[str, mark("The address to listen on. All.")] = ""
    port: Annotated[int, mark("The port to listen on.", **_PORT)] = 0


class WebhookServer(Server, frozen=True, kw_only=True):
    """Where admission listens, and its certificates."""

    port: Annotated[int, mark("The port to listen on.", **_PORT)] = 2750
    server_cert_dir: Annotated[str, mark("The folder with tls.crt and tls.key.")] = (
        "/etc/grove-operator/webhook-certs"
    )
    secret_name: Annotated[str, mark("The Secret with the certificate.")] = _CERTIFICATE
    cert_provision_mode: Annotated[
        str, mark("auto: made here. manual: given.", enum=["auto", "manual"])
    ] = "auto"


class ProbeServer(Server, frozen=True, kw_only=True):
    """Where health and readiness are told."""

    port: Annotated[int, mark("The port to listen on.", **_PORT)] = 2751


class MetricsServer(Server, frozen=True, kw_only=True):
    """Where metrics are told."""

    port: Annotated[int, mark("The port to listen on.", **_PORT)] = 2752


class Servers(Value, frozen=True, kw_only=True):
    """All that listens."""

    webhooks: Annotated[WebhookServer, mark("Admission.")] = WebhookServer()
    health_probes: Annotated[ProbeServer, mark("Health and readiness.")] = ProbeServer()
    metrics: Annotated[MetricsServer, mark("Metrics.")] = MetricsServer()


class Debugging(Value, frozen=True, kw_only=True):
    """Profiling of Grove's own process."""

    enable_profiling: Annotated[bool, mark("Whether to serve profiles.")] = False
    pprof_bind_host: Annotated[str, mark("Where.")] = "127.0.0.1"
    pprof_bind_port: Annotated[int, mark("At which port.", **_PORT)] = 2753


class Controller(Value, frozen=True, kw_only=True):
    """One controller."""

    concurrent_syncs: Annotated[int, mark("How many objects at a time.", minimum=1)] = 10


class SmallController(Controller, frozen=True, kw_only=True):
    """One of a kind with fewer objects."""

    concurrent_syncs: Annotated[int, mark("How many objects at a time.", minimum=1)] = 5


class Controllers(Value, frozen=True, kw_only=True):
    """All controllers."""

    pod_clique_set: Annotated[Controller, mark("That of PodCliqueSets.")] = Controller()
    pod_clique: Annotated[Controller, mark("That of PodCliques.")] = Controller()
    pod_clique_scaling_group: Annotated[SmallController, mark("That of scaling groups.")] = (
        SmallController()
    )
    pod_gang: Annotated[Controller, mark("That of PodGangs.")] = Controller()


class Authorizer(Value, frozen=True, kw_only=True):
    """Whether what the operator makes may be changed by others."""

    enabled: Annotated[bool, mark("Whether changes by others are refused.")] = False
    exempt_service_account_user_names: Annotated[
        tuple[str, ...], mark("User names that may change it all the same.")
    ] = ()


class Topology(Value, frozen=True, kw_only=True):
    """Whether placement heeds the network, and by which node labels."""

    enabled: Annotated[bool, mark("Whether placement heeds the network.")] = False
    levels: Annotated[
        tuple[TopologyLevel, ...], mark("The levels of `grove-topology`, in any order.")
    ] = ()


class Network(Value, frozen=True, kw_only=True):
    """Fast networks."""

    auto_mnnvl_enabled: Annotated[bool, mark("Whether sets may ask for multi-node NVLink.")] = (
        field(name="autoMNNVLEnabled", default=False)
    )


class SchedulerProfile(Value, frozen=True, kw_only=True):
    """A scheduler that pods may name."""

    name: Annotated[str, mark("Its name.", enum=list(SCHEDULERS))]
    config: Annotated[msgspec.Raw, mark("Settings of Grove's for it.")] = ABSENT


class Schedulers(Value, frozen=True, kw_only=True):
    """The schedulers that pods may name."""

    profiles: Annotated[
        tuple[SchedulerProfile, ...], mark("Which ones. The default one is always among them.")
    ] = ()
    default_profile_name: Annotated[
        str, mark("The one for pods that name none.", enum=list(SCHEDULERS))
    ] = DEFAULT_SCHEDULER


class Requests(Value, frozen=True, kw_only=True):
    """How many requests may be under way at once; the number adapts to what the server can do."""

    initial_in_flight: Annotated[int, mark("How many at first.", minimum=1)] = 32
    max_in_flight: Annotated[int, mark("How many at most.", minimum=1)] = 256


class Limits(Value, frozen=True, kw_only=True):
    """The largest that admission lets in. What is larger is refused, not half done."""

    pods_per_set: Annotated[int, mark("Pods of one PodCliqueSet in all.", minimum=1)] = 20_000
    set_replicas: Annotated[int, mark("Replicas of a PodCliqueSet.", minimum=1)] = 1_000
    group_replicas: Annotated[int, mark("Replicas of a scaling group.", minimum=1)] = 2_000
    clique_replicas: Annotated[int, mark("Pods of a PodClique.", minimum=1)] = 5_000
    cliques: Annotated[int, mark("Cliques of a PodCliqueSet.", minimum=1)] = 100
    scaling_groups: Annotated[int, mark("Scaling groups of a PodCliqueSet.", minimum=1)] = 50
    startup_depth: Annotated[int, mark("Cliques that wait in a row.", minimum=1)] = 32
    claim_consumers: Annotated[
        int, mark("Pods that share one ResourceClaim: no server reserves it for more.", minimum=1)
    ] = 256


class Kai(Value, frozen=True, kw_only=True):
    """How gangs are handed to KAI."""

    mode: Annotated[
        str,
        mark(
            "podgang: KAI reads our PodGangs. podgroup: we write its PodGroups. "
            "auto: whichever the KAI of this cluster knows best.",
            enum=["auto", "podgang", "podgroup"],
        ),
    ] = "auto"


class Trellis(Value, frozen=True, kw_only=True):
    """What Grove does not have."""

    requests: Annotated[Requests, mark("Requests to the API server.")] = Requests()
    limits: Annotated[Limits, mark("The largest that is let in.")] = Limits()
    kai: Annotated[Kai, mark("How gangs are handed to KAI.")] = Kai()
    cluster_domain: Annotated[str, mark("The DNS domain of the cluster.")] = CLUSTER_DOMAIN


class OperatorConfiguration(Value, frozen=True, kw_only=True):
    """The whole of it."""

    runtime_client_connection: Annotated[ClientConnection, mark("Grove's request limits.")] = (
        ClientConnection()
    )
    leader_election: Annotated[LeaderElection, mark("Which of several operators works.")] = (
        LeaderElection()
    )
    server: Annotated[Servers, mark("All that listens.")] = Servers()
    debugging: Annotated[Debugging, mark("Grove's profiling.")] = Debugging()
    controllers: Annotated[Controllers, mark("All controllers.")] = Controllers()
    log_level: Annotated[str, mark("What is logged.", enum=["debug", "info", "error"])] = "info"
    log_format: Annotated[str, mark("How it is logged.", enum=["json", "text"])] = "json"
    authorizer: Annotated[Authorizer, mark("Protection of what the operator makes.")] = Authorizer()
    topology_aware_scheduling: Annotated[
        Topology | None, mark("Whether placement heeds the network, as Grove spells it.")
    ] = None
    cluster_topology: Annotated[Topology | None, mark("Whether placement heeds the network.")] = (
        None
    )
    network: Annotated[Network, mark("Fast networks.")] = Network()
    scheduler: Annotated[Schedulers, mark("The schedulers that pods may name.")] = Schedulers()
    trellis: Annotated[Trellis, mark("What Grove does not have.")] = Trellis()

    @property
    def topology(self) -> Topology:
        """The topology, in whichever of the two places it was written."""
        return self.cluster_topology or self.topology_aware_scheduling or Topology()
