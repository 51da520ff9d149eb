# SPDX-License-Identifier: Apache-2.0
"""Whether what a set and its parts say about multi-node NVLink can be understood. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import annotation
from trellis.api.syntax import dns_label_problem, dns_subdomain_problem
from trellis.workloads.admission.problems import METADATA, Field, forbidden, invalid, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject

NONE = "none"
_SCOPES = ("replica", "clique", "scalingGroupReplica")
_SWITCH = ("true", "false")
_SEED = (annotation.MNNVL_ENABLED, annotation.MNNVL_SCOPE, annotation.MNNVL_DEVICE_CLASS)


def layers(subject: Subject) -> dict[Field, Mapping[str, str]]:
    """The annotations of the set, of its groups and of its cliques, by their place."""
    found: dict[Field, Mapping[str, str]] = {METADATA / "annotations": subject.metadata.annotations}
    for part in subject.parts:
        found[part.field / "annotations"] = part.template.annotations
    return found


def fabric_problems(subject: Subject, *, enabled: bool) -> Iterator[Problem]:
    for field, found in layers(subject).items():
        yield from _group(field, found, enabled=enabled)
        yield from _scopes(field, found)


def _group(field: Field, noted: Mapping[str, str], *, enabled: bool) -> Iterator[Problem]:
    key = annotation.MNNVL_GROUP
    if key not in noted:
        return
    name, place = noted[key], field.key(key)
    if problem := dns_label_problem(name):
        yield invalid(place, name, f"the name of an MNNVL group {problem}")
    elif name != NONE and not enabled:
        detail = "MNNVL is not enabled in the operator; set network.autoMNNVLEnabled, or use none"
        yield invalid(place, name, detail)
    if mixed := [other for other in _SEED if other in noted]:
        yield forbidden(place, f"{mixed[0]} says it in another way; keep one of the two")


def _scopes(field: Field, noted: Mapping[str, str]) -> Iterator[Problem]:
    choices = {annotation.MNNVL_ENABLED: _SWITCH, annotation.MNNVL_SCOPE: _SCOPES}
    for key, known in choices.items():
        if key in noted and noted[key] not in known:
            yield unsupported(field.key(key), noted[key], known)
    key = annotation.MNNVL_DEVICE_CLASS
    if key in noted and (problem := dns_subdomain_problem(noted[key])):
        yield invalid(field.key(key), noted[key], f"the name of a DeviceClass {problem}")
