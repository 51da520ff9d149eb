# SPDX-License-Identifier: Apache-2.0
"""The PodClique that is to be, for a set or for one of its scaling groups. Pure.

Its pod spec is the template's, byte for byte: what pods get besides is added where they are made.
How many pods it has is decided here only once, when it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from trellis.api import hashes
from trellis.api.annotation import (
    APPLIED,
    FROM_TEMPLATE,
    HASH_ALIASES,
    MNNVL_GROUP,
    PRIORITY_CLASS,
)
from trellis.api.grove.podclique import PodClique, PodCliqueSpec
from trellis.api.labels import POD_TEMPLATE_HASH, Component, common, of_clique
from trellis.api.meta import Metadata, owner
from trellis.workloads.members.adopting import aliases, carries
from trellis.workloads.members.keeping import kept
from trellis.workloads.members.templates import own_annotations, own_labels
from trellis.workloads.members.terms import AT_ONCE, notes

if TYPE_CHECKING:
    from trellis.api.grove.template import CliqueTemplate
    from trellis.api.meta import Object
    from trellis.workloads.members.terms import Terms
    from trellis.workloads.outline import Member, Outline


def clique(
    outline: Outline,
    member: Member,
    controller: Object,
    live: PodClique | None,
    terms: Terms = AT_ONCE,
) -> PodClique:
    """What is to be written for that member. `controller` is the set, or the member's group."""
    labels, annotations = _labels(outline, member), _annotations(outline, member)
    annotations[APPLIED] = _digest(outline, member, labels, annotations)
    new = _clique(member, controller, labels, annotations, _spec(outline, member, live))
    return new if live is None else _following(new, live, member.template, terms)


def _following(
    new: PodClique, live: PodClique, template: CliqueTemplate, terms: Terms
) -> PodClique:
    """The same where there is one already."""
    template_hash = new.metadata.labels[POD_TEMPLATE_HASH]
    begins = not carries(live, template, template_hash)
    if begins and terms.held:
        return kept(new, live)
    annotations = {**new.metadata.annotations, **dict(notes(live, terms, begins=begins))}
    if known := aliases(live, template, template_hash):
        annotations[HASH_ALIASES] = known
    return structs.replace(new, metadata=structs.replace(new.metadata, annotations=annotations))


def _clique(
    member: Member,
    controller: Object,
    labels: dict[str, str],
    annotations: dict[str, str],
    spec: PodCliqueSpec,
) -> PodClique:
    return PodClique(
        metadata=Metadata(
            name=member.name,
            namespace=controller.metadata.namespace,
            labels=labels,
            annotations=annotations,
            owner_references=(owner(controller),),
        ),
        spec=spec,
    )


def applied(outline: Outline, member: Member) -> str:
    """A digest of all that goes into that PodClique, but for the number of its pods."""
    return _digest(outline, member, _labels(outline, member), _annotations(outline, member))


def _labels(outline: Outline, member: Member) -> dict[str, str]:
    component = Component.MEMBER_CLIQUE if member.group else Component.CLIQUE
    return {
        **own_labels(member.template),
        **common(outline.name, member.name, component),
        **of_clique(member.place),
        POD_TEMPLATE_HASH: outline.template_hashes[member.template.name],
    }


def _annotations(outline: Outline, member: Member) -> dict[str, str]:
    labels, own = own_labels(member.template), own_annotations(member.template)
    found = {**_inherited(outline, member), **own}
    if priority := outline.set.spec.template.priority_class_name:
        found[PRIORITY_CLASS] = priority
    if labels or own:
        found[FROM_TEMPLATE] = record(labels, own)
    return found


def _inherited(outline: Outline, member: Member) -> dict[str, str]:
    """The fabric group is that of the nearest layer that names one."""
    above = (member.group.annotations if member.group else {}, outline.set.metadata.annotations)
    named = (layer[MNNVL_GROUP] for layer in above if MNNVL_GROUP in layer)
    group = next(named, None)
    return {} if group is None else {MNNVL_GROUP: group}


def record(labels: dict[str, str], annotations: dict[str, str]) -> str:
    """Which keys come from a template, to know which go when they are no longer in it."""
    kept = {"labels": sorted(labels), "annotations": sorted(annotations)}
    return msgspec.json.encode({name: keys for name, keys in kept.items() if keys}).decode()


def _spec(outline: Outline, member: Member, live: PodClique | None) -> PodCliqueSpec:
    spec = member.template.spec
    replicas = spec.replicas if live is None else live.spec.replicas
    starts_after = _starts_after(outline, member)
    if (replicas, starts_after) == (spec.replicas, spec.starts_after):
        return spec
    return structs.replace(spec, replicas=replicas, starts_after=starts_after)


def _starts_after(outline: Outline, member: Member) -> tuple[str, ...]:
    return tuple(parent.name for parent in outline.parents(member)) if outline.waits else ()


def _digest(
    outline: Outline, member: Member, labels: dict[str, str], annotations: dict[str, str]
) -> str:
    return hashes.digest(
        [
            member.name,
            labels,
            annotations,
            _starts_after(outline, member),
            _settings(member.template),
        ]
    )


def _settings(template: CliqueTemplate) -> list[object]:
    """What is in the spec besides, and not in the hash of its pods."""
    spec = template.spec
    scaling = spec.auto_scaling_config
    return [spec.role_name, spec.min_available, scaling and msgspec.json.encode(scaling).decode()]
