# SPDX-License-Identifier: Apache-2.0
"""Whether the names that a PodCliqueSet would lead to can exist: short enough, and only once.

Names of Grove's are never shortened, so a set whose names would be too long is refused, with the
longest name itself, worked out at the largest index. Nothing is counted up to an index here:
replicas may be any number that a user writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import names
from trellis.api.syntax import LABEL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A shared claim: its template, and whether each replica has one of its own."""

    template: str
    per_replica: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clique:
    """A clique with the largest number of pods it may come to, by autoscaling too."""

    name: str
    replicas: int = 1
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A scaling group with its members and the largest number of replicas it may come to."""

    name: str
    replicas: int = 1
    members: tuple[Clique, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All of a PodCliqueSet that names depend on. `cliques` are those in no group."""

    name: str
    replicas: int = 1
    cliques: tuple[Clique, ...] = ()
    groups: tuple[Group, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class TooLong:
    """A name that cannot be."""

    what: str
    name: str

    @property
    def excess(self) -> int:
        return len(self.name) - LABEL_LIMIT

    def __str__(self) -> str:
        return (
            f"{self.what} would be {self.name!r}, {self.excess} more than the {LABEL_LIMIT} "
            f"characters allowed; shorten the names it is made of by {self.excess}"
        )


@dataclass(frozen=True, slots=True)
class Clash:
    """Two cliques of one set whose PodCliques would have the same name."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return (
            f"{self.first} and {self.second} would both be the PodClique {self.name!r}; rename one"
        )


def too_long(outline: Outline) -> tuple[TooLong, ...]:
    """Every kind of name that would pass the limit, each at its largest index."""
    return tuple(found for found in _longest_names(outline) if found.excess > 0)


def clashes(outline: Outline, replica: int = 0) -> tuple[Clash, ...]:
    """PodCliques that would share a name, such as clique `b-0-c` and member `c` of group `b`.

    Two such names can only be equal where the index of one stands in the name of the other, so
    only numbers that occur in names need to be tried; and only in one `replica` of the set, for
    all are called alike.
    """
    taken: dict[str, str] = {}
    found = []
    for name, what in _that_may_clash(outline, replica):
        if name in taken:
            found.append(Clash(name, taken[name], what))
        taken.setdefault(name, what)
    return tuple(found)


def _longest_names(outline: Outline) -> Iterator[TooLong]:
    replica = names.set_replica(outline.name, _last(outline.replicas))
    yield TooLong("the headless Service", replica)
    yield from _claims("the set", outline.name, outline.replicas, outline.claims)
    for clique in outline.cliques:
        yield from _pods(clique, f"clique {clique.name!r}", f"{replica}-{clique.name}")
    for group in outline.groups:
        full = names.scaling_group(outline.name, _last(outline.replicas), group.name)
        yield from _claims(f"group {group.name!r}", full, group.replicas, group.claims)
        for member in group.members:
            what = f"clique {member.name!r} of group {group.name!r}"
            yield from _pods(
                member, what, names.member_clique(full, _last(group.replicas), member.name)
            )


def _pods(clique: Clique, what: str, full: str) -> Iterator[TooLong]:
    yield TooLong(
        f"the host name of the last pod of {what}", names.hostname(full, _last(clique.replicas))
    )
    yield from _claims(what, full, clique.replicas, clique.claims)


def _claims(what: str, owner: str, replicas: int, claims: tuple[Claim, ...]) -> Iterator[TooLong]:
    for claim in claims:
        index = _last(replicas) if claim.per_replica else None
        name = names.shared_claim(owner, claim.template, index)
        yield TooLong(f"the claim {claim.template!r} of {what}", name)


def _that_may_clash(outline: Outline, replica: int) -> Iterator[tuple[str, str]]:
    """PodCliques of a replica that could, with words for each."""
    for clique in outline.cliques:
        yield names.clique(outline.name, replica, clique.name), f"clique {clique.name!r}"
    for group in outline.groups:
        full = names.scaling_group(outline.name, replica, group.name)
        numbers = _numbers(outline, group)
        for index in (number for number in numbers if number < group.replicas):
            for member in group.members:
                what = f"clique {member.name!r} of replica {index} of group {group.name!r}"
                yield names.member_clique(full, index, member.name), what


def _numbers(outline: Outline, group: Group) -> tuple[int, ...]:
    """Every index at which a member of this group could be called like something else.

    It stands after the name of the group in a longer name; or, where the group is itself called
    like a replica of another, in the names of that one's members.
    """
    written = [clique.name for clique in outline.cliques]
    written += [other.name for other in outline.groups]
    tails = list(_tails(f"{group.name}-", written))
    for other in outline.groups:
        for tail in _tails(f"{other.name}-", [group.name]):
            _, dash, rest = tail.partition("-")
            tails += _tails(f"{rest}{dash}", [member.name for member in other.members])
    parts = {tail.partition("-")[0] for tail in tails}
    # A number with a leading zero is never an index.
    return tuple(sorted(int(part) for part in parts if part.isdecimal() and str(int(part)) == part))


def _tails(prefix: str, written: Iterable[str]) -> Iterator[str]:
    return (name.removeprefix(prefix) for name in written if name.startswith(prefix))


def _last(replicas: int) -> int:
    return max(replicas - 1, 0)
