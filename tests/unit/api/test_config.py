# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import msgspec
import pytest

from trellis.api.config import InvalidConfiguration, OperatorConfiguration, load

HEAD = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"

# Every key that Grove has, or ever had.
GROVE = """
runtimeClientConnection: {qps: 100, burst: 150, contentType: a, acceptContentTypes: b}
leaderElection:
  enabled: true
  leaseDuration: 15s
  renewDeadline: 10s
  retryPeriod: 2s
  resourceLock: leases
  resourceName: grove-operator-leader-election
  resourceNamespace: grove-system
server:
  webhooks:
    bindAddress: 0.0.0.0
    port: 9443
    serverCertDir: /etc/grove-operator/webhook-certs
    secretName: grove-webhook-server-cert
    certProvisionMode: manual
  healthProbes: {bindAddress: "", port: 9444}
  metrics: {bindAddress: "", port: 9445}
debugging: {enableProfiling: false, pprofBindHost: 127.0.0.1, pprofBindPort: 2753}
controllers:
  podCliqueSet: {concurrentSyncs: 3}
  podClique: {concurrentSyncs: 3}
  podCliqueScalingGroup: {concurrentSyncs: 3}
  podGang: {concurrentSyncs: 3}
logLevel: debug
logFormat: text
authorizer:
  enabled: true
  exemptServiceAccountUserNames:
  - system:serviceaccount:kube-system:generic-garbage-collector
topologyAwareScheduling:
  enabled: true
  levels:
  - {domain: rack, key: topology.kubernetes.io/rack}
network: {autoMNNVLEnabled: true}
scheduler:
  profiles:
  - name: default-scheduler
    config: {gangScheduling: true}
  - name: kai-scheduler
  defaultProfileName: kai-scheduler
"""
SEED = """
clusterTopology:
  enabled: true
  levels:
    - domain: rack
      key: "topology.kubernetes.io/rack"
    - domain: host
      key: "kubernetes.io/hostname"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidConfiguration) as refused:
        load(text)
    assert str(refused.value).splitlines() == [str(one) for one in refused.value.problems]
    return [str(one) for one in refused.value.problems]


def test_every_key_of_groves_is_accepted_and_those_without_effect_are_told() -> None:
    loaded = load(HEAD + GROVE)
    config = loaded.configuration
    assert config.server.webhooks.port == 9443
    assert config.controllers.pod_gang.concurrent_syncs == 3
    assert config.network.auto_mnnvl_enabled
    assert config.topology.levels[0].domain == "rack"
    assert config.scheduler.default_profile_name == "kai-scheduler"
    assert [warning.partition(" ")[0] for warning in loaded.warnings] == [
        "runtimeClientConnection.qps",
        "runtimeClientConnection.burst",
        "runtimeClientConnection.contentType",
        "runtimeClientConnection.acceptContentTypes",
        "leaderElection.resourceLock",
        "debugging.enableProfiling",
        "debugging.pprofBindHost",
        "debugging.pprofBindPort",
        "scheduler.profiles[0].config",
    ]


def test_an_empty_configuration_has_groves_defaults_and_no_warnings() -> None:
    loaded = load(HEAD)
    assert loaded.warnings == ()
    config = loaded.configuration
    assert config == OperatorConfiguration()
    server = config.server
    assert (server.webhooks.port, server.health_probes.port, server.metrics.port) == (
        2750,
        2751,
        2752,
    )
    assert config.leader_election.resource_name == "grove-operator-leader-election"
    assert config.controllers.pod_clique.concurrent_syncs == 10
    assert config.controllers.pod_clique_scaling_group.concurrent_syncs == 5
    assert not config.topology.enabled
    assert config.trellis.limits.pods_per_set == 20_000


def test_a_section_that_says_only_part_keeps_the_defaults_of_the_rest() -> None:
    config = load(HEAD + "server: {metrics: {bindAddress: 127.0.0.1}}\ndebugging:\n").configuration
    assert config.server.metrics.port == 2752
    assert config.debugging.pprof_bind_port == 2753


def test_the_topology_of_the_proposal_is_accepted() -> None:
    topology = load(HEAD + SEED).configuration.topology
    assert topology.enabled
    assert [level.key for level in topology.levels] == [
        "topology.kubernetes.io/rack",
        "kubernetes.io/hostname",
    ]


def test_ours_is_under_trellis() -> None:
    ours = "trellis: {requests: {maxInFlight: 64}, limits: {cliques: 5}, clusterDomain: k8s.local}"
    config = load(HEAD + ours).configuration.trellis
    assert (config.requests.max_in_flight, config.limits.cliques) == (64, 5)
    assert config.cluster_domain == "k8s.local"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            "server: {webhooks: {prot: 9443}}",
            "server.webhooks.prot: 9443 is not known; did you mean port?",
            id="a slip of the pen",
        ),
        pytest.param(
            "trellis: {frobnicate: 1}",
            "trellis.frobnicate: 1 is not known; "
            "remove it, or use one of requests, limits, kai, clusterDomain",
            id="a key that nobody has",
        ),
        pytest.param(
            "server: {webhooks: {port: '9443'}}",
            "server.webhooks.port: '9443' is not a whole number; "
            "write a whole number, without quotes",
            id="a string for a number",
        ),
        pytest.param(
            "controllers: {podClique: {concurrentSyncs: true}}",
            "controllers.podClique.concurrentSyncs: True is not a whole number; "
            "write a whole number, without quotes",
            id="true for a number",
        ),
        pytest.param(
            "leaderElection: {enabled: yes}",
            "leaderElection.enabled: 'yes' is not true or false; "
            "write true or false, without quotes",
            id="yes for true",
        ),
        pytest.param(
            "leaderElection: {resourceName: 5}",
            "leaderElection.resourceName: 5 is not a string; put it in quotes",
            id="a number for a string",
        ),
        pytest.param(
            "logLevel: [info]",
            "logLevel: ['info'] is not a string; write a string",
            id="a list for a string",
        ),
        pytest.param(
            "server: 5",
            "server: 5 is not a mapping; write a mapping",
            id="a number for a section",
        ),
        pytest.param(
            "authorizer: {exemptServiceAccountUserNames: [1]}",
            "authorizer.exemptServiceAccountUserNames[0]: 1 is not a string; put it in quotes",
            id="within a list",
        ),
        pytest.param(
            "logLevel: warn",
            "logLevel: 'warn' is not allowed; use one of debug, info, error",
            id="a word that is not one of them",
        ),
        pytest.param(
            "server: {metrics: {port: 70000}}",
            "server.metrics.port: 70000 is too large; use at most 65535",
            id="a port beyond all",
        ),
        pytest.param(
            "trellis: {limits: {cliques: 0}}",
            "trellis.limits.cliques: 0 is too small; use at least 1",
            id="a limit that lets nothing in",
        ),
        pytest.param(
            "leaderElection: {leaseDuration: 15}",
            "leaderElection.leaseDuration: 15 is not a string; put it in quotes",
            id="a duration without a unit",
        ),
        pytest.param(
            "leaderElection: {leaseDuration: 0s}",
            "leaderElection.leaseDuration: '0s' is no duration above zero; "
            "write it like 30s, 5m or 1h30m",
            id="a duration of nothing",
        ),
        pytest.param(
            "leaderElection: {leaseDuration: soon}",
            "leaderElection.leaseDuration: 'soon' is no duration above zero; "
            "write it like 30s, 5m or 1h30m",
            id="no duration",
        ),
        pytest.param(
            "leaderElection: {renewDeadline: 15s}",
            "leaderElection.renewDeadline: '15s' leaves no time to hand over; "
            "use less than leaseDuration, 15s",
            id="a lease that cannot be renewed",
        ),
        pytest.param(
            "leaderElection: {retryPeriod: 10s}",
            "leaderElection.retryPeriod: '10s' leaves no time to try again; "
            "use less than renewDeadline, 10s",
            id="a retry that comes too late",
        ),
        pytest.param(
            "server: {metrics: {port: 2750}}",
            "server.metrics.port: 2750 is that of webhooks too; use another port",
            id="one port for two",
        ),
        pytest.param(
            "clusterTopology: {enabled: true, levels: [{domain: rack, key: a}, "
            "{domain: rack, key: b}]}",
            "clusterTopology.levels[1].domain: 'rack' is that of clusterTopology.levels[0] too; "
            "give each level its own domain",
            id="a domain twice",
        ),
        pytest.param(
            "topologyAwareScheduling: {enabled: true, levels: [{domain: rack, key: a}, "
            "{domain: host, key: a}]}",
            "topologyAwareScheduling.levels[1].key: 'a' is that of "
            "topologyAwareScheduling.levels[0] too; give each level its own key",
            id="a key twice",
        ),
        pytest.param(
            "clusterTopology: {enabled: true, levels: [{domain: pod, key: a}]}",
            "clusterTopology.levels[0].domain: 'pod' is not allowed; "
            "use one of region, zone, datacenter, block, rack, host, numa",
            id="a domain that there is not",
        ),
        pytest.param(
            "clusterTopology: {enabled: true, levels: [{domain: rack, key: 'a b'}]}",
            "clusterTopology.levels[0].key: 'a b' must be letters, digits, '-', '_' and '.', with "
            "a letter or digit at both ends; use a node label like topology.kubernetes.io/rack",
            id="no label key",
        ),
        pytest.param(
            f"clusterTopology: {{enabled: true, levels: [{{domain: rack, key: {'a' * 32}.b/"
            f"{'c' * 32}}}]}}",
            f"clusterTopology.levels[0].key: '{'a' * 32}.b/{'c' * 32}' has 67 characters, and 63 "
            "are allowed; use a node label like topology.kubernetes.io/rack",
            id="a key longer than a topology takes",
        ),
        pytest.param(
            "clusterTopology: {enabled: true, levels: [{key: a}]}",
            "clusterTopology.levels[0]: {'key': 'a'} has no domain; add domain",
            id="a level without its domain",
        ),
        pytest.param(
            "clusterTopology: {enabled: true}",
            "clusterTopology.enabled: True is without levels; add levels, or set enabled to false",
            id="a topology of nothing",
        ),
        pytest.param(
            "clusterTopology: {enabled: false}\ntopologyAwareScheduling: {enabled: true}",
            "topologyAwareScheduling: True says something else than clusterTopology; "
            "keep one of the two",
            id="two topologies",
        ),
        pytest.param(
            "scheduler: {profiles: [{name: nomad}]}",
            "scheduler.profiles[0].name: 'nomad' is not allowed; "
            "use one of kai-scheduler, default-scheduler, volcano, lpx-scheduler",
            id="a scheduler that nobody knows",
        ),
        pytest.param(
            "scheduler: {profiles: [{name: volcano}, {name: volcano}]}",
            "scheduler.profiles[1].name: 'volcano' is that of scheduler.profiles[0] too; "
            "give each level its own name",
            id="a scheduler twice",
        ),
        pytest.param(
            "scheduler: {defaultProfileName: volcano}",
            "scheduler.defaultProfileName: 'volcano' is not among the profiles; "
            "add it to scheduler.profiles",
            id="a default that is not there",
        ),
        pytest.param(
            "trellis: {requests: {initialInFlight: 500}}",
            "trellis.requests.initialInFlight: 500 is above the maximum; "
            "use at most maxInFlight, 256",
            id="a beginning beyond the end",
        ),
        pytest.param(
            "trellis: {clusterDomain: Cluster.Local}",
            "trellis.clusterDomain: 'Cluster.Local' must be lower-case letters, digits, '-' and "
            "'.', with a letter or digit at both ends of every part; "
            "use a DNS domain like cluster.local",
            id="no domain",
        ),
        pytest.param(
            "logLevel: info\nlogLevel: debug",
            "line 4, column 1: the key 'logLevel' is there twice; keep one",
            id="a key twice in the file",
        ),
    ],
)
def test_a_fault_is_told_with_its_path_its_value_and_the_remedy(text: str, want: str) -> None:
    assert problems(HEAD + text) == [want]


def test_all_faults_are_told_at_once() -> None:
    assert len(problems(HEAD + "logLevel: warn\nlogFormat: xml\nother: 1")) == 3


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "the file: None is not a configuration"),
        ("- a", "the file: ['a'] is not a configuration"),
        ("a: [", "line 1, column 5"),
        ("[" * 100_000, "line 1, column 65: this is nested deeper"),
        ("logLevel: info", "apiVersion: None is not what this file must say; write apiVersion: "),
        (HEAD.replace("v1alpha1", "v2"), "apiVersion: 'operator.config.grove.io/v2' is not what"),
    ],
)
def test_what_is_no_configuration_is_told_in_one_line(text: str, want: str) -> None:
    assert problems(text)[0].startswith(want)


def test_a_long_value_is_not_repeated_whole() -> None:
    (problem,) = problems(HEAD + f"logLevel: {'x' * 500}")
    assert len(problem) < 200


def test_a_configuration_survives_being_written() -> None:
    config = load(HEAD + GROVE).configuration
    assert msgspec.json.decode(msgspec.json.encode(config), type=OperatorConfiguration) == config
