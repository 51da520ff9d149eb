# SPDX-License-Identifier: Apache-2.0
"""Whether every shared claim of a set has a name of its own. Pure.

A claim that two would make is made by one and refused to the other for ever. Names are compared as
patterns, word by word between dashes, in which an index stands for all its numbers: nothing is
counted up to an index, for replicas may be any number that a user writes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from trellis.api import names
from trellis.api.grove.resourcesharing import PER_REPLICA
from trellis.api.syntax import dns_label_problem
from trellis.workloads.admission.names import outline
from trellis.workloads.admission.problems import TEMPLATE, Problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.grove.resourcesharing import ResourceSharing
    from trellis.workloads.admission.problems import Field
    from trellis.workloads.admission.subject import Subject

Pattern: TypeAlias = tuple[str | int, ...]
"""Parts of a name: as they are written, and for an index, how many numbers it may be."""

# What stands for the index in the name of a claim for all replicas.
_TOGETHER = "all"
# A hundred cliques with ten templates each come to a few thousand. Who writes a set may write one
# that comes to millions: what is not found then shows when the operator makes the claims.
_MOST_LOOKED_AT = 100_000


@dataclass(frozen=True, slots=True)
class _Owner:
    """What shares claims, by its name within a replica of the set. The set itself has none."""

    name: Pattern
    replicas: int
    field: Field
    shared: Sequence[ResourceSharing]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of resourceSharing."""

    field: Field
    template: str


@dataclass(slots=True)
class _Node:
    """How names that begin alike go on, and the entries whose claims are called just so.

    `indices` are by how many numbers each may be.
    """

    words: dict[str, _Node] = dataclasses.field(default_factory=dict)
    indices: dict[int, _Node] = dataclasses.field(default_factory=dict)
    entries: list[_Entry] = dataclasses.field(default_factory=list)


def claim_name_problems(subject: Subject) -> Iterator[Problem]:
    """One for every two entries that would make a claim of the same name."""
    parts = [part.template.name for part in subject.parts]
    if any(map(dns_label_problem, [subject.metadata.name, *parts])):
        # Said elsewhere; and nothing is built from names that cannot be.
        return
    # Each replica of the set is called like every other but for its index: one speaks for all.
    replica = names.set_replica(subject.metadata.name, 0)
    for one, other, rest in _clashes(_tree(subject)):
        # Told by names alone, so that it is the same problem when lists are sorted.
        first, second = sorted((one, other), key=lambda entry: entry.field.identity)
        said = (
            f"{first.field.shown} and {second.field.shown} would both make the ResourceClaim "
            f"{replica + rest!r}; rename the template of one"
        )
        yield Problem(
            field=second.field / "name",
            message=f"Invalid value: {shown(second.template)}: {said}",
            reason="FieldValueInvalid",
            about=f"claim of {first.field.identity}",
        )


def _tree(subject: Subject) -> _Node:
    root = _Node()
    for owner in _owners(subject):
        for index, one in enumerate(owner.shared):
            pattern = _pattern(owner, one)
            if pattern and not dns_label_problem(one.name):
                place = (owner.field / "resourceSharing").item(index, one.name)
                _node(root, pattern).entries.append(_Entry(place, one.name))
    return root


def _owners(subject: Subject) -> Iterator[_Owner]:
    """With the largest number of replicas that each may come to."""
    whole = outline(subject)
    yield _Owner((), whole.replicas, TEMPLATE, subject.spec.template.resource_sharing)
    alone = [clique for clique in subject.cliques if clique.group is None]
    for clique, sized in zip(alone, whole.cliques, strict=True):
        shared = clique.template.resource_sharing
        yield _Owner((sized.name,), sized.replicas, clique.field, shared)
    for group, each in zip(subject.groups, whole.groups, strict=True):
        yield _Owner((each.name,), each.replicas, group.field, group.template.resource_sharing)
        for member, sized in zip(group.members, each.members, strict=True):
            name = (each.name, each.replicas, sized.name)
            shared = member.template.resource_sharing
            yield _Owner(name, sized.replicas, member.field, shared)


def _pattern(owner: _Owner, sharing: ResourceSharing) -> Pattern:
    """How `names.shared_claim` calls these, after the replica of the set; or nothing."""
    each = sharing.scope == PER_REPLICA
    if not owner.name:
        return (sharing.name,) if each else ()
    return (*owner.name, owner.replicas if each else _TOGETHER, sharing.name)


def _node(root: _Node, pattern: Pattern) -> _Node:
    found = root
    for part in pattern:
        if isinstance(part, int):
            found = found.indices.setdefault(part, _Node())
            continue
        for word in part.split("-"):
            found = found.words.setdefault(word, _Node())
    return found


def _clashes(root: _Node) -> Iterator[tuple[_Entry, _Entry, str]]:
    """Every two entries with a claim of one name, and that name.

    Two nodes are looked at together where a name can begin like both, and no others: that is far
    less than all by all, except for names that are made for it.
    """
    waiting = [(root, root, "")]
    looked = 0
    while waiting and looked < _MOST_LOOKED_AT:
        one, other, name = waiting.pop()
        looked += 1
        for entry in one.entries[:1]:
            for another in other.entries:
                # An entry that is there twice is refused for that.
                if another.field.identity != entry.field.identity:
                    yield entry, another, name
        waiting += [(this, that, f"{name}-{word}") for word, this, that in _steps(one, other)]


def _steps(one: _Node, other: _Node) -> Iterator[tuple[str, _Node, _Node]]:
    """Each way on that both have. An index is a word that can be one of its numbers."""
    few, many = sorted((one.words, other.words), key=len)
    yield from ((word, few[word], many[word]) for word in few if word in many)
    yield from _counted(one, other)
    if one is not other:
        yield from _counted(other, one)
    for most, node in one.indices.items():
        for least, another in other.indices.items():
            twice = one is other and most > least
            if most > 0 and least > 0 and not twice:
                yield "0", node, another


def _counted(one: _Node, other: _Node) -> Iterator[tuple[str, _Node, _Node]]:
    """Where the one has an index and the other a number that is written."""
    for most, node in one.indices.items():
        for word, another in other.words.items():
            # A number with a leading zero is never an index.
            if word.isdecimal() and int(word) < most and str(int(word)) == word:
                yield word, node, another
