# SPDX-License-Identifier: Apache-2.0
"""PodCliqueSets by a few words, and those by which Grove's own scenarios are told."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

ANY_ORDER = "CliqueStartupTypeAnyOrder"
IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"
# The scenarios say 10s. What is waited for is a condition, so a shorter one is as good.
SHORT_DELAY = "2s"
READY_DELAY = "sim.trellis.dev/ready-delay"


def a_pod_spec(**more: Any) -> Json:
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"memory": "80Mi"}},
    }
    return {"terminationGracePeriodSeconds": 5, "containers": [container], **more}


def a_clique(name: str, replicas: int = 1, least: int | None = None, **more: Any) -> Json:
    """`least` is its minAvailable. What is not of the template itself goes into its spec."""
    template: Json = {
        key: more.pop(key) for key in ("labels", "annotations", "resourceSharing") if key in more
    }
    spec = {"roleName": name, "replicas": replicas, "podSpec": a_pod_spec(), **more}
    if least is not None:
        spec["minAvailable"] = least
    return {"name": name, **template, "spec": spec}


def a_group(name: str, *cliques: str, replicas: int = 1, least: int = 1, **more: Any) -> Json:
    return {
        "name": name,
        "cliqueNames": list(cliques),
        "replicas": replicas,
        "minAvailable": least,
        **more,
    }


def a_set(name: str, *cliques: Json, replicas: int = 1, **template: Any) -> Json:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "template": {"cliques": list(cliques), **template}},
    }


def workload1(name: str = "wl", **template: Any) -> Json:
    """pc-a 2/2; sg-x 2/2 of pc-b 1/1 and pc-c 3/3: ten pods, all of which it needs."""
    cliques = (a_clique("pc-a", 2, 2), a_clique("pc-b", 1, 1), a_clique("pc-c", 3, 3))
    group = a_group("sg-x", "pc-b", "pc-c", replicas=2, least=2)
    return a_set(name, *cliques, podCliqueScalingGroups=[group], **template)


def workload2(name: str = "wl", **template: Any) -> Json:
    """pc-a 2/1; sg-x 2/1 of pc-b 1/1 and pc-c 3/1: ten pods, three of which it needs."""
    cliques = (a_clique("pc-a", 2, 1), a_clique("pc-b", 1, 1), a_clique("pc-c", 3, 1))
    group = a_group("sg-x", "pc-b", "pc-c", replicas=2, least=1)
    return a_set(name, *cliques, podCliqueScalingGroups=[group], **template)


def workload3(name: str = "wl") -> Json:
    return ordered(workload1(name, cliqueStartupType=IN_ORDER), "pc-a", "pc-b", "pc-c")


def workload4(name: str = "wl") -> Json:
    return ordered(workload2(name, cliqueStartupType=IN_ORDER), "pc-a", "pc-b", "pc-c")


def workload5(name: str = "wl") -> Json:
    """pc-c after pc-a, pc-b after pc-c."""
    made = workload1(name, cliqueStartupType=EXPLICIT)
    clique_of(made, "pc-c")["spec"]["startsAfter"] = ["pc-a"]
    clique_of(made, "pc-b")["spec"]["startsAfter"] = ["pc-c"]
    return ordered(made, "pc-a", "pc-c", "pc-b")


def workload6(name: str = "wl") -> Json:
    """pc-b after pc-a, pc-c after pc-b."""
    made = workload2(name, cliqueStartupType=EXPLICIT)
    clique_of(made, "pc-b")["spec"]["startsAfter"] = ["pc-a"]
    clique_of(made, "pc-c")["spec"]["startsAfter"] = ["pc-b"]
    return ordered(made, "pc-a", "pc-b", "pc-c")


def workload5_gt(name: str = "wl") -> Json:
    """pc-a 2/1; sg-x 2/1 of pc-b 1/1 and pc-c 3/3."""
    made = workload2(name, terminationDelay=SHORT_DELAY)
    clique_of(made, "pc-c")["spec"]["minAvailable"] = 3
    return made


def on_delete(made: Json) -> Json:
    made["spec"]["updateStrategy"] = {"type": "OnDelete"}
    return made


def workload_on_delete(name: str = "wl") -> Json:
    """pc-a 2/1; sg-x 2/2 of pc-b 1/1 and pc-c 3/3; pods are left until they are deleted."""
    made = workload1(name)
    clique_of(made, "pc-a")["spec"]["minAvailable"] = 1
    return on_delete(made)


def clique_of(made: Json, name: str) -> Json:
    found: Json = next(one for one in made["spec"]["template"]["cliques"] if one["name"] == name)
    return found


def ordered(made: Json, *first_to_last: str) -> Json:
    """So slow is who starts first that, did nobody wait, all others would be ready before it."""
    for position, name in enumerate(reversed(first_to_last)):
        clique_of(made, name)["annotations"] = {READY_DELAY: f"{1.5 * position}"}
    return made
