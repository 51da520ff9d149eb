# SPDX-License-Identifier: Apache-2.0
"""What of a stored set may not change. Pure.

Most of this is in the schema too, so that it holds with no operator running. What names stand for
is decided when a set is made; all that a gang depends on stays as it was while it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api import annotation
from trellis.api.grove.clustertopology import MANAGED_NAME
from trellis.api.grove.template import ANY_ORDER
from trellis.api.meta import to_builtins
from trellis.workloads.admission.fabric import layers
from trellis.workloads.admission.problems import (
    CLIQUES,
    GROUPS,
    TEMPLATE,
    Field,
    forbidden,
    invalid,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trellis.api.grove.topologyconstraint import TopologyConstraint
    from trellis.api.meta import Value
    from trellis.workloads.admission.policy import Policy
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Group, Subject

_ANEW = "delete the PodCliqueSet and make it anew to change it"
IMMUTABLE = f"field is immutable; {_ANEW}"


def update_problems(new: Subject, old: Subject, policy: Policy) -> Iterator[Problem]:
    yield from _whole(new, old)
    yield from _composition(CLIQUES, "clique composition", _names(new.cliques), _names(old.cliques))
    yield from _composition(
        GROUPS, "scaling group composition", _names(new.groups), _names(old.groups)
    )
    yield from _order(new, old)
    before = {one.template.name: one for one in old.cliques}
    for clique in new.cliques:
        if clique.template.name in before:
            yield from _clique(clique, before[clique.template.name])
            yield from _scheduler(clique, before[clique.template.name], policy)
    earlier = {one.template.name: one for one in old.groups}
    for group in new.groups:
        if group.template.name in earlier:
            yield from _group(group, earlier[group.template.name])
    yield from _fabric(new, old)


def _whole(new: Subject, old: Subject) -> Iterator[Problem]:
    now, was = new.spec.template, old.spec.template
    kind = "cliqueStartupType"
    yield from _kept(TEMPLATE / kind, now.clique_startup_type, was.clique_startup_type)
    for name, one, other in (
        ("resourceClaimTemplates", now.resource_claim_templates, was.resource_claim_templates),
        ("resourceSharing", now.resource_sharing, was.resource_sharing),
    ):
        yield from _kept(TEMPLATE / name, _plain(one), _plain(other))
    field = TEMPLATE / "topologyConstraint"
    yield from _constraint(field, now.topology_constraint, was.topology_constraint)


def _clique(new: Clique, old: Clique) -> Iterator[Problem]:
    now, was = new.template.spec, old.template.spec
    field = new.field / "spec"
    yield from _kept(field / "roleName", now.role_name, was.role_name)
    if was.min_available is not None:
        yield from _kept(field / "minAvailable", now.min_available, was.min_available)
    yield from _kept(field / "startsAfter", now.starts_after, was.starts_after)
    shared, before = new.template.resource_sharing, old.template.resource_sharing
    yield from _kept(new.field / "resourceSharing", _plain(shared), _plain(before))
    yield from _constraint(
        new.field / "topologyConstraint",
        new.template.topology_constraint,
        old.template.topology_constraint,
    )


def _scheduler(new: Clique, old: Clique, policy: Policy) -> Iterator[Problem]:
    """To name the scheduler that none stands for is no change."""
    default = policy.schedulers.default_profile_name
    field = new.field / "spec" / "podSpec" / "schedulerName"
    now, was = new.pod.scheduler_name, old.pod.scheduler_name
    if (now or default) != (was or default):
        yield invalid(field, now, IMMUTABLE)


def _group(new: Group, old: Group) -> Iterator[Problem]:
    now, was = new.template, old.template
    yield from _kept(new.field / "cliqueNames", now.clique_names, was.clique_names)
    yield from _kept(new.field / "minAvailable", now.min_available, was.min_available)
    shared, before = _plain(now.resource_sharing), _plain(was.resource_sharing)
    yield from _kept(new.field / "resourceSharing", shared, before)
    field = new.field / "topologyConstraint"
    yield from _constraint(field, now.topology_constraint, was.topology_constraint)


def _composition(
    field: Field, what: str, new: Sequence[str], old: Sequence[str]
) -> Iterator[Problem]:
    added = sorted(set(new) - set(old))
    gone = sorted(set(old) - set(new))
    if added or gone:
        said = [f"new {one!r} is not allowed" for one in added]
        said += [f"{one!r} must stay" for one in gone]
        yield forbidden(field, f"not allowed to change {what}: {', '.join(said[:10])}; {_ANEW}")


def _order(new: Subject, old: Subject) -> Iterator[Problem]:
    now, was = _names(new.cliques), _names(old.cliques)
    kind = new.spec.template.clique_startup_type
    if kind == ANY_ORDER or now == was or sorted(now) != sorted(was):
        return
    place = next(index for index, name in enumerate(now) if name != was[index])
    detail = (
        "clique order cannot be changed when StartupType is InOrder or Explicit. "
        f"Expected {was[place]!r} at position {place}, got {now[place]!r}"
    )
    yield invalid(CLIQUES, now[place], detail)


def _constraint(
    field: Field, new: TopologyConstraint | None, old: TopologyConstraint | None
) -> Iterator[Problem]:
    """Both ways to write a level are one; a name that was left out may be filled in."""
    now, was = _meaning(new), _meaning(old)
    named = new is not None and old is not None and not old.topology_name
    if now[1:] != was[1:] or (now[0] != was[0] and not named):
        yield invalid(field, _written(new), IMMUTABLE)


def _meaning(constraint: TopologyConstraint | None) -> tuple[str, str, str]:
    if constraint is None:
        return "", "", ""
    return constraint.topology_name or MANAGED_NAME, constraint.required, constraint.preferred


def _written(constraint: TopologyConstraint | None) -> list[str]:
    return [part for part in _meaning(constraint) if part]


def _fabric(new: Subject, old: Subject) -> Iterator[Problem]:
    key = annotation.MNNVL_GROUP
    before = {field.identity: found.get(key) for field, found in layers(old).items()}
    for field, found in layers(new).items():
        if field.identity in before:
            yield from _kept(field.key(key), found.get(key), before[field.identity])


def _kept(field: Field, new: Any, old: Any) -> Iterator[Problem]:
    if new != old:
        yield invalid(field, new, IMMUTABLE)


def _names(parts: Iterable[Clique | Group]) -> list[str]:
    return [part.template.name for part in parts]


def _plain(values: Sequence[Value]) -> list[dict[str, Any]]:
    return [to_builtins(value) for value in values]
