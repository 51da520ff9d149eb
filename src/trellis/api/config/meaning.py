# SPDX-License-Identifier: Apache-2.0
"""Whether a configuration of the right shape makes sense, and which of its keys do nothing here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api import durations
from trellis.api.config.problems import Problem
from trellis.api.config.types import DEFAULT_SCHEDULER
from trellis.api.grove.clustertopology import KEY_LIMIT
from trellis.api.syntax import dns_subdomain_problem, label_key_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.config.types import OperatorConfiguration, Topology, Trellis

_ADAPTED = "requests under way adapt to what the server can do (trellis.requests)"
_JSON = "all requests are JSON"
_NO_PPROF = "there are no Go profiles of a Python process"
_INERT = {
    "runtimeClientConnection.qps": _ADAPTED,
    "runtimeClientConnection.burst": _ADAPTED,
    "runtimeClientConnection.contentType": _JSON,
    "runtimeClientConnection.acceptContentTypes": _JSON,
    "leaderElection.resourceLock": "leases are the only kind of lock",
    "debugging.enableProfiling": _NO_PPROF,
    "debugging.pprofBindHost": _NO_PPROF,
    "debugging.pprofBindPort": _NO_PPROF,
}


def semantic_problems(config: OperatorConfiguration) -> Iterator[Problem]:
    """Every contradiction in a configuration of the right shape."""
    yield from _leases(config)
    yield from _ports(config)
    yield from _topologies(config)
    yield from _schedulers(config)
    yield from _ours(config.trellis)


def inert_keys(document: dict[str, Any]) -> Iterator[str]:
    """A sentence for every key that was given and does nothing here."""
    for path, why in _INERT.items():
        section, _, key = path.partition(".")
        if (document.get(section) or {}).get(key) is not None:
            yield f"{path} has no effect: {why}"
    for index, profile in enumerate((document.get("scheduler") or {}).get("profiles") or ()):
        if profile.get("config"):
            yield f"scheduler.profiles[{index}].config has no effect: Grove reads nothing from it"


def _ours(trellis: Trellis) -> Iterator[Problem]:
    initial, most = trellis.requests.initial_in_flight, trellis.requests.max_in_flight
    if initial > most:
        path, remedy = "trellis.requests.initialInFlight", f"use at most maxInFlight, {most}"
        yield Problem(path, initial, "is above the maximum", remedy)
    if problem := dns_subdomain_problem(trellis.cluster_domain):
        path, remedy = "trellis.clusterDomain", "use a DNS domain like cluster.local"
        yield Problem(path, trellis.cluster_domain, problem, remedy)


def _leases(config: OperatorConfiguration) -> Iterator[Problem]:
    election = config.leader_election
    retry, renew, lease = (
        durations.parse(text)
        for text in (election.retry_period, election.renew_deadline, election.lease_duration)
    )
    if renew >= lease:
        remedy = f"use less than leaseDuration, {election.lease_duration}"
        path, value = "leaderElection.renewDeadline", election.renew_deadline
        yield Problem(path, value, "leaves no time to hand over", remedy)
    if retry >= renew:
        remedy = f"use less than renewDeadline, {election.renew_deadline}"
        path, value = "leaderElection.retryPeriod", election.retry_period
        yield Problem(path, value, "leaves no time to try again", remedy)


def _ports(config: OperatorConfiguration) -> Iterator[Problem]:
    server = config.server
    taken: dict[tuple[str, int], str] = {}
    for name, one in (
        ("webhooks", server.webhooks),
        ("healthProbes", server.health_probes),
        ("metrics", server.metrics),
    ):
        place = (one.bind_address, one.port)
        first = taken.setdefault(place, name) if one.port else name
        if first != name:
            path = f"server.{name}.port"
            yield Problem(path, one.port, f"is that of {first} too", "use another port")


def _topologies(config: OperatorConfiguration) -> Iterator[Problem]:
    grove, ours = config.topology_aware_scheduling, config.cluster_topology
    if grove is not None and ours is not None and grove != ours:
        what = "says something else than clusterTopology"
        yield Problem("topologyAwareScheduling", grove.enabled, what, "keep one of the two")
    if ours is not None:
        if ours.enabled and not ours.levels:
            what, remedy = "is without levels", "add levels, or set enabled to false"
            yield Problem("clusterTopology.enabled", ours.enabled, what, remedy)
        yield from _levels(ours, "clusterTopology.levels")
    if grove is not None:
        yield from _levels(grove, "topologyAwareScheduling.levels")


def _levels(topology: Topology, path: str) -> Iterator[Problem]:
    levels = topology.levels
    yield from _duplicates((level.domain for level in levels), path, "domain")
    yield from _duplicates((level.key for level in levels), path, "key")
    for index, level in enumerate(levels):
        where, remedy = f"{path}[{index}].key", "use a node label like topology.kubernetes.io/rack"
        if problem := label_key_problem(level.key):
            yield Problem(where, level.key, problem, remedy)
        elif len(level.key) > KEY_LIMIT:
            what = f"has {len(level.key)} characters, and {KEY_LIMIT} are allowed"
            yield Problem(where, level.key, what, remedy)


def _duplicates(values: Iterable[str], path: str, name: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        earlier = first.setdefault(value, index)
        if earlier != index:
            what = f"is that of {path}[{earlier}] too"
            yield Problem(f"{path}[{index}].{name}", value, what, f"give each level its own {name}")


def _schedulers(config: OperatorConfiguration) -> Iterator[Problem]:
    profiles = [profile.name for profile in config.scheduler.profiles]
    yield from _duplicates(profiles, "scheduler.profiles", "name")
    default = config.scheduler.default_profile_name
    if default not in {DEFAULT_SCHEDULER, *profiles}:
        path = "scheduler.defaultProfileName"
        yield Problem(path, default, "is not among the profiles", "add it to scheduler.profiles")
