# SPDX-License-Identifier: Apache-2.0
"""Whether the ledger of every gang can be stored. Sums and products of integers alone.

A gang lists the names of all its pods: for KAI in an annotation, for others as references. Only
what surely cannot be stored is refused, so every length is worked out at its shortest. The base
gang of a replica is the largest that a set begins with: a scaled one is a part of what that has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import names
from trellis.api.annotation import POD_LEDGER
from trellis.api.syntax import LABEL_LIMIT
from trellis.workloads.admission.limits import pods_in
from trellis.workloads.admission.problems import CLIQUES, SPEC, excessive
from trellis.workloads.kai import KAI

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.policy import Policy
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Group, Subject

# What the API server lets an object have in annotations, and what etcd takes in one write.
_ANNOTATIONS = 256 << 10
_WRITE = 3 << 19
_QUOTED = len('"",')
_REFERENCE = len('{"namespace":"","name":""},')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ledger:
    """Where names are listed, what each takes there besides itself, and how much there may be."""

    where: str
    most: int
    begins: int
    each: int

    def bytes_of(self, name: str, pods: int) -> int:
        """What the pods of a PodClique of that name take."""
        return len(name) + characters(len(name), pods) + self.each * pods


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """One clique of a gang: the shortest of its full names, and how often it is there."""

    clique: Clique
    name: str
    copies: int = 1


def ledger_problems(subject: Subject, policy: Policy) -> Iterator[Problem]:
    listed = tuple(_in_base_gang(subject, max(subject.spec.replicas - 1, 0)))
    ledger = _ledger(subject, policy)
    size = _size(ledger, listed)
    if size > ledger.most:
        pods = _pods(listed)
        yield excessive(CLIQUES, pods, _said(ledger, pods, size), size, of="ledger")


def ledger_when_scaled(
    subject: Subject, clique: Clique, place: tuple[int, int], replicas: int, policy: Policy
) -> Iterator[Problem]:
    """The same where one PodClique of the set is scaled to another number than its template's.

    `place`: of which replica of the set it is, and of which replica of its scaling group.
    """
    listed = tuple(_around(subject, clique, place))
    name = next(one.name for one in listed if one.clique is clique)
    ledger, before = _ledger(subject, policy), pods_in(clique)
    size = _size(ledger, listed) + ledger.bytes_of(name, replicas) - ledger.bytes_of(name, before)
    if replicas != before and size > ledger.most:
        said = _said(ledger, _pods(listed) + replicas - before, size)
        yield excessive(SPEC / "replicas", replicas, said, size, of="ledger")


def _around(subject: Subject, clique: Clique, place: tuple[int, int]) -> Iterator[_Listed]:
    """The gang that a PodClique is in."""
    replica, index = place
    for group in subject.groups:
        if group.template.name == clique.group and index >= group.template.min_available:
            yield from _in_scaled_gang(subject, replica, group)
            return
    yield from _in_base_gang(subject, replica)


def _said(ledger: _Ledger, pods: int, size: int) -> str:
    return (
        f"one gang would list {pods} pods, which takes {size} bytes or more, and {ledger.where} "
        f"{ledger.most}; put fewer pods into one gang: more replicas of the set, or of a scaling "
        "group beyond its minAvailable, with fewer pods each"
    )


def _pods(listed: tuple[_Listed, ...]) -> int:
    return sum(one.copies * pods_in(one.clique) for one in listed)


def _size(ledger: _Ledger, listed: tuple[_Listed, ...]) -> int:
    return ledger.begins + sum(
        one.copies * ledger.bytes_of(one.name, pods_in(one.clique)) for one in listed
    )


def _ledger(subject: Subject, policy: Policy) -> _Ledger:
    named = (clique.pod.scheduler_name for clique in subject.cliques)
    scheduler = next(filter(None, named), policy.schedulers.default_profile_name)
    if scheduler == KAI:
        where = "annotations, in which gangs of KAI list them, hold"
        return _Ledger(where=where, most=_ANNOTATIONS, begins=len(POD_LEDGER), each=_QUOTED)
    each = _REFERENCE + len(subject.metadata.namespace)
    return _Ledger(where="etcd takes", most=_WRITE, begins=0, each=each)


def _in_base_gang(subject: Subject, replica: int) -> Iterator[_Listed]:
    for clique in subject.cliques:
        if clique.group is None:
            name = names.clique(subject.metadata.name, replica, clique.template.name)
            yield _Listed(clique=clique, name=name)
    for group in subject.groups:
        copies = max(min(group.template.replicas, group.template.min_available), 0)
        yield from _in_scaled_gang(subject, replica, group, copies)


def _in_scaled_gang(
    subject: Subject, replica: int, group: Group, copies: int = 1
) -> Iterator[_Listed]:
    full = names.scaling_group(subject.metadata.name, replica, group.template.name)
    for member in group.members:
        name = names.member_clique(full, 0, member.template.name)
        yield _Listed(clique=member, name=name, copies=copies)


def characters(clique: int, pods: int) -> int:
    """The names of so many pods of a PodClique, together. `clique` is the length of its name."""
    found, digits, first = 0, 1, 0
    while first < pods:
        end = min(10**digits, pods)
        # Names of pods that would be longer are cut.
        length = min(clique + len("--") + digits + names.POD_SUFFIX_LENGTH, LABEL_LIMIT)
        found += (end - first) * length
        digits, first = digits + 1, end
    return found
