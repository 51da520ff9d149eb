# SPDX-License-Identifier: Apache-2.0
"""Whether cliques can start in the order that is asked for. Pure, and without recursion."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from trellis.api.grove.podclique import PARENTS_LIMIT
from trellis.api.grove.template import ANY_ORDER, EXPLICIT, IN_ORDER
from trellis.workloads.admission.problems import (
    CLIQUES,
    TEMPLATE,
    duplicates,
    excessive,
    invalid,
    required,
    unknown,
    unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.api.config.types import Limits
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Subject

Parents = dict[str, tuple[str, ...]]


def startup_problems(subject: Subject, limits: Limits) -> Iterator[Problem]:
    template = subject.spec.template
    kinds = (ANY_ORDER, IN_ORDER, EXPLICIT)
    if template.clique_startup_type not in kinds:
        field = TEMPLATE / "cliqueStartupType"
        yield unsupported(field, template.clique_startup_type, kinds)
    yield from _crowded(subject)
    if template.clique_startup_type != EXPLICIT:
        return
    known = {clique.template.name for clique in subject.cliques}
    for clique in subject.cliques:
        yield from _entries(clique, known)
    parents: Parents = {
        clique.template.name: tuple(
            name
            for name in dict.fromkeys(clique.template.spec.starts_after)
            if name in known and name != clique.template.name
        )
        for clique in subject.cliques
    }
    depths = _depths(parents)
    if len(depths) < len(parents):
        yield _cyclic(subject, _cycle(parents, depths))
    elif depths and (deepest := max(depths.values())) > limits.startup_depth:
        detail = (
            f"{deepest} cliques wait in a row, and {limits.startup_depth} are allowed "
            "(trellis.limits.startupDepth of the operator's configuration)"
        )
        yield excessive(CLIQUES, deepest, detail, deepest)


def _crowded(subject: Subject) -> Iterator[Problem]:
    """Cliques that would start after more PodCliques than can be named: see `Outline.parents`."""
    together = {one.template.name: max(one.template.min_available, 0) for one in subject.groups}
    for clique, parents in _with_parents(subject):
        count = sum(together[one.group] if one.group else 1 for one in parents)
        if count > PARENTS_LIMIT:
            detail = (
                f"clique {clique.template.name!r} would start after {count} PodCliques, and "
                f"{PARENTS_LIMIT} are possible: one of each parent, and of a parent in a scaling "
                "group one for each of its minAvailable replicas; lower that, or start after fewer "
                "cliques"
            )
            said = subject.spec.template.clique_startup_type == EXPLICIT
            field = clique.field / "spec" / "startsAfter" if said else clique.field
            yield excessive(field, count, detail, count, of="parents")


def _with_parents(subject: Subject) -> Iterator[tuple[Clique, list[Clique]]]:
    startup = subject.spec.template.clique_startup_type
    if startup == IN_ORDER:
        yield from ((after, [before]) for before, after in pairwise(subject.cliques))
    elif startup == EXPLICIT:
        known = {one.template.name: one for one in subject.cliques}
        for clique in subject.cliques:
            named = dict.fromkeys(clique.template.spec.starts_after)
            yield clique, [known[name] for name in named if name in known]


def _entries(clique: Clique, known: set[str]) -> Iterator[Problem]:
    field = clique.field / "spec" / "startsAfter"
    found = [
        (field.item(index, f"{name}#{index}"), name)
        for index, name in enumerate(clique.template.spec.starts_after)
    ]
    for place, name in found:
        if not name:
            yield required(place, "clique dependency must not be empty")
        elif name == clique.template.name:
            yield invalid(place, name, "clique dependency cannot refer to itself")
        elif name not in known:
            detail = (
                "unknown clique names found, all clique dependencies must be defined as cliques"
            )
            yield unknown(place, name, detail)
    yield from duplicates(found, "name each clique once")


def _depths(parents: Parents) -> dict[str, int]:
    """How many cliques start one after the other up to each. Those in or after a cycle have none.

    Every clique is looked at once for each of those that wait for it.
    """
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, found in parents.items():
        for parent in found:
            children[parent].append(name)
    open_parents = {name: len(found) for name, found in parents.items()}
    depths = {name: 1 for name, count in open_parents.items() if not count}
    waiting = list(depths)
    while waiting:
        name = waiting.pop()
        for child in children[name]:
            open_parents[child] -= 1
            if not open_parents[child]:
                depths[child] = 1 + max(depths[parent] for parent in parents[child])
                waiting.append(child)
    return depths


def _cycle(parents: Parents, depths: Mapping[str, int]) -> list[str]:
    """The names round one cycle, which begins and ends with the same."""
    seen: dict[str, None] = {}
    name = next(name for name in parents if name not in depths)
    while name not in seen:
        seen[name] = None
        # Whatever has no depth waits for something without one.
        name = next(parent for parent in parents[name] if parent not in depths)
    path = list(seen)
    return [*path[path.index(name) :], name]


def _cyclic(subject: Subject, cycle: list[str]) -> Problem:
    first = next(one for one in subject.cliques if one.template.name == cycle[0])
    detail = f"clique must not have circular dependencies: {' waits for '.join(cycle[:12])}"
    return invalid(first.field / "spec" / "startsAfter", cycle, f"{detail}; drop one of these")
