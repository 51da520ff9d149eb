# SPDX-License-Identifier: Apache-2.0
"""Whether pods can be made of what cliques say of them. Pure.

Only what is sure to fail, or would take from us what is ours to decide: all else is the API
server's to judge, which knows fields that nobody here has heard of.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trellis.api.syntax import dns_label_problem, dns_subdomain_problem
from trellis.workloads import waiting
from trellis.workloads.admission.problems import (
    TEMPLATE,
    Field,
    duplicates,
    invalid,
    required,
    unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Container, Pod, Subject

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_ENV_LENGTH = 4096
_OURS = "must not be set: where pods run is decided for whole gangs"


def pod_problems(subject: Subject) -> Iterator[Problem]:
    yield from subject.unread
    yield from _priority(subject.spec.template.priority_class_name, TEMPLATE)
    unread = {problem.field.identity for problem in subject.unread}
    for clique in subject.cliques:
        field = clique.field / "spec" / "podSpec"
        if not any(place.startswith(field.identity) for place in unread):
            yield from _pod(clique.pod, field)


def _pod(pod: Pod, field: Field) -> Iterator[Problem]:
    if pod.node_name:
        yield invalid(field / "nodeName", pod.node_name, _OURS)
    if pod.topology_spread_constraints:
        count = len(pod.topology_spread_constraints)
        yield invalid(
            field / "topologySpreadConstraints", count, f"{_OURS}; see topologyConstraint"
        )
    if pod.restart_policy and pod.restart_policy not in RESTART_POLICIES:
        yield unsupported(field / "restartPolicy", pod.restart_policy, RESTART_POLICIES)
    grace = pod.termination_grace_period_seconds
    if grace is not None and grace < 0:
        detail = "must be greater than or equal to 0"
        yield invalid(field / "terminationGracePeriodSeconds", grace, detail)
    yield from _priority(pod.priority_class_name, field)
    if not pod.containers:
        yield required(field / "containers", "a pod has at least one container")
    yield from _containers(pod, field)
    for index, volume in enumerate(pod.volumes):
        if volume.name == waiting.VOLUME:
            place = (field / "volumes").item(index, f"{volume.name}#{index}") / "name"
            detail = (
                "is the name of the volume by which the start-order waiter asks; choose another"
            )
            yield invalid(place, volume.name, detail)


def _priority(name: str, field: Field) -> Iterator[Problem]:
    if name and (problem := dns_subdomain_problem(name)):
        yield invalid(field / "priorityClassName", name, f"the name of a PriorityClass {problem}")


def _containers(pod: Pod, field: Field) -> Iterator[Problem]:
    found = [
        ((field / kind).item(index, f"{one.name}#{index}"), one)
        for kind, containers in (
            ("containers", pod.containers),
            ("initContainers", pod.init_containers),
        )
        for index, one in enumerate(containers)
    ]
    for place, one in found:
        yield from _container(one, place)
    names = [(place / "name", one.name) for place, one in found]
    yield from duplicates(names, "rename one")


def _container(container: Container, field: Field) -> Iterator[Problem]:
    if problem := dns_label_problem(container.name):
        yield invalid(field / "name", container.name, f"the name of a container {problem}")
    if container.name == waiting.WAITER:
        detail = "is the name of the container that waits for other cliques; choose another"
        yield invalid(field / "name", container.name, detail)
    if not container.image.strip():
        yield required(field / "image", "the image to run")
    elif container.image != container.image.strip():
        detail = "must not have leading or trailing whitespace"
        yield invalid(field / "image", container.image, detail)
    variables = [
        ((field / "env").item(index, f"{one.name}#{index}") / "name", one.name)
        for index, one in enumerate(container.env)
    ]
    for place, name in variables:
        if problem := env_name_problem(name):
            yield invalid(place, name, problem)
    yield from duplicates(variables, "keep one of them")


def env_name_problem(name: str) -> str | None:
    """Why an environment variable cannot be called so."""
    if len(name) > _ENV_LENGTH or not _ENV_NAME.fullmatch(name):
        return (
            "a valid environment variable name must consist of alphabetic characters, digits, "
            "'_', '-', or '.', and must not start with a digit"
        )
    if name == "." or name.startswith(".."):
        return "an environment variable is not called '.' and does not start with '..'"
    return None
