# SPDX-License-Identifier: Apache-2.0
"""The PodGang that is to be, and the patch that makes the one there is like it. Pure.

What others keep in it stays: labels and annotations that are not ours, topology constraints, hints.
A patch that touches the ledger holds for the version that was read and for no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from trellis.api.annotation import FROM_TEMPLATE, KAI_SKIP_POD_GROUPER, POD_LEDGER, RECYCLED
from trellis.api.labels import (
    KAI_QUEUE,
    SCHEDULER_NAME,
    Component,
    common,
    of_group_replica,
    of_set_replica,
)
from trellis.api.meta import Metadata, owner
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.runtime.plain import plain
from trellis.workloads.kai import YES
from trellis.workloads.members import compare_metadata, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import GroupConstraint
    from trellis.runtime.difference import Json
    from trellis.runtime.plan import Wanted
    from trellis.workloads.podgang.backend import Backend
    from trellis.workloads.podgang.plan import Plan
    from trellis.workloads.podgang.state import Part, State

# Keys of a set that are not for its gangs: Grove's and ours have meanings of their own there, and
# what kubectl applied last was no gang.
_NOT_MIRRORED = ("grove.io/", "trellis.dev/", "kubectl.kubernetes.io/")
_GUARDED = (POD_LEDGER, RECYCLED)


def desired(state: State, planned: Plan, backend: Backend) -> PodGang | None:
    """None: there is nothing to be scheduled together."""
    groups = tuple(_groups(state, planned, backend))
    if not groups:
        return None
    priority = state.outline.set.spec.template.priority_class_name
    if state.gang is None:
        spec = PodGangSpec(podgroups=groups, priority_class_name=priority)
    else:
        present = state.gang.spec
        configs = tuple(_still(present.topology_constraint_group_configs, groups))
        spec = structs.replace(
            present,
            podgroups=groups,
            priority_class_name=priority,
            topology_constraint_group_configs=configs,
        )
    metadata = Metadata(
        name=state.key.name,
        namespace=state.key.namespace,
        labels=_labels(state, backend),
        annotations=_annotations(state, planned, backend),
        owner_references=(owner(state.set),),
    )
    return PodGang(metadata=metadata, spec=spec)


def compare(have: Object, want: Wanted) -> Json:
    """Keys that neither are nor were those of the set are others'. Lists are written whole."""
    if not (isinstance(have, PodGang) and isinstance(want, PodGang)):
        raise TypeError(f"{have.metadata.key} is compared as a PodGang and is none")
    marks = compare_metadata(have.metadata, want.metadata)
    spec = {} if have.spec == want.spec else dict(_changes(have.spec, want.spec))
    if spec or any(key in marks.get("annotations", {}) for key in _GUARDED):
        marks["resourceVersion"] = have.metadata.resource_version
    return ({"metadata": marks} if marks else {}) | ({"spec": spec} if spec else {})


def _mirrored(found: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations of a set that its gangs have too."""
    return {key: value for key, value in found.items() if not key.startswith(_NOT_MIRRORED)}


def _groups(state: State, planned: Plan, backend: Backend) -> Iterator[PodGroup]:
    """In the order of the template. What has no PodClique just now stays as it was."""
    present = {group.name: group for group in state.gang.spec.podgroups} if state.gang else {}
    parts = {part.name: part for part in state.parts}
    for name in state.expected:
        part, group = parts.get(name), present.get(name)
        if part is None:
            if group is not None:
                yield group
        elif part.replicas > 0:
            listed = planned.listings[name].entries.values()
            # KAI stumbles over names that no pod has yet.
            names = [one for one in listed if one in part.pods] if backend.is_kai else list(listed)
            yield _group(state, part, names, group)


def _group(state: State, part: Part, names: list[str], present: PodGroup | None) -> PodGroup:
    if present is None:
        references = _references(state, names)
        return PodGroup(name=part.name, pod_references=references, min_replicas=part.minimum)
    same = [reference.name for reference in present.pod_references] == names
    if same and present.min_replicas == part.minimum:
        return present
    references = present.pod_references if same else _references(state, names)
    return structs.replace(present, pod_references=references, min_replicas=part.minimum)


def _references(state: State, names: list[str]) -> tuple[NamespacedName, ...]:
    return tuple(NamespacedName(namespace=state.key.namespace, name=name) for name in names)


def _still(
    configs: tuple[GroupConstraint, ...], groups: tuple[PodGroup, ...]
) -> Iterator[GroupConstraint]:
    """Constraints on groups that are there: KAI refuses a gang that names others."""
    known = {group.name for group in groups}
    for config in configs:
        names = tuple(name for name in config.pod_group_names if name in known)
        if names == config.pod_group_names:
            yield config
        elif names:
            yield structs.replace(config, pod_group_names=names)


def _labels(state: State, backend: Backend) -> dict[str, str]:
    place, name = state.place, state.set.metadata.name
    grouped = place.group_place(state.outline)
    return {
        **_mirrored(state.set.metadata.labels),
        **common(name, state.key.name, Component.POD_GANG),
        **of_set_replica(name, place.replica),
        **(of_group_replica(grouped) if grouped else {}),
        **({KAI_QUEUE: backend.queue} if backend.queue else {}),
        SCHEDULER_NAME: backend.scheduler,
    }


def _annotations(state: State, planned: Plan, backend: Backend) -> dict[str, str]:
    metadata = state.set.metadata
    found = _mirrored(metadata.annotations)
    marked = _mirrored(metadata.labels)
    if marked or found:
        found[FROM_TEMPLATE] = record(marked, found)
    if planned.stamps:
        found[RECYCLED] = msgspec.json.encode(planned.stamps).decode()
    if backend.is_kai:
        found[POD_LEDGER] = _ledger(state, planned)
    if backend.as_pod_group:
        found[KAI_SKIP_POD_GROUPER] = YES
    return found


def _ledger(state: State, planned: Plan) -> str:
    """What is listed, by PodClique. What has no PodClique just now is listed as it was."""
    listings = planned.listings
    known = state.listed_names
    names = {
        name: list(listings[name].entries.values()) if name in listings else list(known[name])
        for name in state.expected
        if name in listings or name in known
    }
    return msgspec.json.encode({name: one for name, one in names.items() if one}).decode()


def _changes(have: PodGangSpec, want: PodGangSpec) -> Iterator[tuple[str, object]]:
    if have.podgroups != want.podgroups:
        yield "podgroups", plain(want.podgroups)
    if have.priority_class_name != want.priority_class_name:
        yield "priorityClassName", want.priority_class_name or None
    configs = want.topology_constraint_group_configs
    if have.topology_constraint_group_configs != configs:
        yield "topologyConstraintGroupConfigs", plain(configs) or None
