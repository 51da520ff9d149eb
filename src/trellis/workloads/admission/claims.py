# SPDX-License-Identifier: Apache-2.0
"""Whether claims can be made and shared as asked: templates, references, filters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api.grove.resourcesharing import ALL_REPLICAS, PER_REPLICA
from trellis.api.syntax import dns_label_problem, dns_subdomain_problem
from trellis.workloads.admission.claimnames import claim_name_problems
from trellis.workloads.admission.problems import (
    TEMPLATE,
    Field,
    duplicates,
    forbidden,
    invalid,
    mistyped,
    required,
    unknown,
    unsupported,
)
from trellis.workloads.sharing.adminaccess import REMEDY, ClaimSpec, admin_access

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trellis.api.grove.resourcesharing import ResourceClaimTemplate, ResourceSharing
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject

_SCOPES = (ALL_REPLICAS, PER_REPLICA)


class _Template(msgspec.Struct, frozen=True):
    spec: ClaimSpec = ClaimSpec()


def claim_problems(subject: Subject) -> Iterator[Problem]:
    template = subject.spec.template
    own = {one.name for one in template.resource_claim_templates}
    yield from _templates(template.resource_claim_templates)
    yield from _sharing(template.resource_sharing, TEMPLATE, own)
    yield from _set_filters(subject)
    for clique in subject.cliques:
        yield from _sharing(clique.template.resource_sharing, clique.field, own)
    for group in subject.groups:
        yield from _sharing(group.template.resource_sharing, group.field, own)
    yield from _group_filters(subject)
    yield from claim_name_problems(subject)


def _templates(templates: Sequence[ResourceClaimTemplate]) -> Iterator[Problem]:
    field = TEMPLATE / "resourceClaimTemplates"
    names = []
    for index, one in enumerate(templates):
        place = field.item(index, one.name)
        names.append((place / "name", one.name))
        if not one.name:
            yield required(place / "name", "template name is required")
        elif problem := dns_subdomain_problem(one.name):
            yield invalid(place / "name", one.name, f"the name of a claim template {problem}")
        yield from _requests(one.template_spec, place / "templateSpec")
    yield from duplicates(names, "rename one")


def _requests(raw: msgspec.Raw, field: Field) -> Iterator[Problem]:
    try:
        found = msgspec.json.decode(raw, type=_Template)
    except msgspec.ValidationError as error:
        yield mistyped(field, str(error))
        return
    spec = field / "spec"
    if not found.spec.requests:
        place = spec / "devices" / "requests"
        yield required(place, "at least one device request is required")
    for where in admin_access(found.spec):
        detail = f"the operator makes no claim with admin access; leave it out, or {REMEDY}"
        yield forbidden(spec / where, detail)


def _sharing(
    shared: Sequence[ResourceSharing], parent: Field, own: Collection[str]
) -> Iterator[Problem]:
    field = parent / "resourceSharing"
    names = []
    for index, one in enumerate(shared):
        place = field.item(index, one.name)
        names.append((place / "name", one.name))
        yield from _reference(one, place, own)
    yield from duplicates(names, "keep one of them")


def _reference(one: ResourceSharing, place: Field, own: Collection[str]) -> Iterator[Problem]:
    if not one.name:
        yield required(place / "name", "reference name is required")
    elif problem := dns_subdomain_problem(one.name):
        yield invalid(place / "name", one.name, f"the name of a claim template {problem}")
    elif "." in one.name:
        detail = "has a dot, which claims of pods may not have in their names; rename the template"
        yield invalid(place / "name", one.name, detail)
    if one.namespace and one.name in own:
        detail = "namespace must be empty when name matches an internal resourceClaimTemplate"
        yield invalid(place / "namespace", one.namespace, detail)
    elif one.namespace and (problem := dns_label_problem(one.namespace)):
        yield invalid(place / "namespace", one.namespace, f"the name of a namespace {problem}")
    if one.scope not in _SCOPES:
        yield unsupported(place / "scope", one.scope, _SCOPES)


def _set_filters(subject: Subject) -> Iterator[Problem]:
    cliques = [one.template.name for one in subject.cliques]
    groups = [one.template.name for one in subject.groups]
    for index, one in enumerate(subject.spec.template.resource_sharing):
        if one.filter is None:
            continue
        field = (TEMPLATE / "resourceSharing").item(index, one.name) / "filter"
        found = one.filter
        if not (found.child_clique_names or found.child_scaling_group_names):
            detail = (
                "filter must specify at least one childCliqueNames or childScalingGroupNames entry"
            )
            yield required(field, detail)
        yield from _known(found.child_clique_names, cliques, field / "childCliqueNames")
        yield from _known(found.child_scaling_group_names, groups, field / "childScalingGroupNames")


def _group_filters(subject: Subject) -> Iterator[Problem]:
    for group in subject.groups:
        for index, one in enumerate(group.template.resource_sharing):
            if one.filter is None:
                continue
            field = (group.field / "resourceSharing").item(index, one.name) / "filter"
            names = one.filter.child_clique_names
            if not names:
                yield required(field, "filter must specify at least one childCliqueNames entry")
            yield from _known(names, group.template.clique_names, field / "childCliqueNames")


def _known(names: Sequence[str], there: Collection[str], field: Field) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name not in there:
            place = field.item(index, name)
            yield unknown(place, name, f"there is {', '.join(there)[:200] or 'none'}")
