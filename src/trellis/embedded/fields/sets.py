# SPDX-License-Identifier: Apache-2.0
"""Sets of fields, kept as FieldsV1 writes them: a tree of dicts by step.

An empty dict is a field of the set; one with a `.` is too, beside what lies below it. Sets are
never changed once made, so that trees may share branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields.elements import SELF, BadStep, Path, canonical, order

if TYPE_CHECKING:
    from collections.abc import Iterator

Fields = dict[str, Any]

_DEEPEST = 256


def of_paths(*paths: Path) -> Fields:
    fields: Fields = {}
    for path in paths:
        branch: Fields = {}
        for step in reversed(path):
            branch = {step: branch}
        fields = union(fields, branch)
    return fields


def is_member(branch: Fields) -> bool:
    return not branch or SELF in branch


def union(left: Fields, right: Fields) -> Fields:
    if not right:
        return left
    if not left:
        return right
    both = dict(left)
    for step, branch in right.items():
        there = both.get(step)
        both[step] = branch if there is None or there is branch else _joined(there, branch)
    return both


def _joined(left: Fields, right: Fields) -> Fields:
    if not left or not right:
        more = left or right
        return more if SELF in more or not more else {SELF: {}, **more}
    return union(left, right)


def difference(left: Fields, right: Fields) -> Fields:
    """What is in the left one and not in the right one. Branches that did not change are shared."""
    shared = left.keys() & right.keys()
    shared.discard(SELF)
    if not shared:
        return left
    rest = dict(left)
    for step in shared:
        branch = left[step]
        less = _without(branch, right[step])
        if less is None:
            del rest[step]
        elif less is not branch:
            rest[step] = less
    return rest


def _without(left: Fields, right: Fields) -> Fields | None:
    member = is_member(left) and not is_member(right)
    if not left:
        return left if member else None
    below = difference(left, right)
    if SELF in left and not member:
        below = {step: branch for step, branch in below.items() if step != SELF}
    elif member and below.keys() == {SELF}:
        return {}
    return below or None


def difference_below(left: Fields, right: Fields) -> Fields:
    """Without the fields of the right one and all that lies below them."""
    rest: Fields = {}
    for step, branch in left.items():
        other = right.get(step)
        if other is None or step == SELF:
            rest[step] = branch
        elif not is_member(other):
            below = difference_below(branch, other)
            if below or not branch:
                rest[step] = below
    return rest


def intersection(left: Fields, right: Fields) -> Fields:
    both: Fields = {}
    for step, branch in left.items():
        other = right.get(step)
        if other is None or step == SELF:
            continue
        below = intersection(branch, other)
        if is_member(branch) and is_member(other):
            both[step] = {SELF: {}, **below} if below else {}
        elif below:
            both[step] = below
    return both


def paths(fields: Fields, prefix: Path = ()) -> Iterator[Path]:
    """Each field of the set, those of one level before what lies below them."""
    steps = [step for step in sorted(fields, key=order) if step != SELF]
    for step in steps:
        if is_member(fields[step]):
            yield (*prefix, step)
    for step in steps:
        yield from paths(fields[step], (*prefix, step))


def has(fields: Fields, path: Path) -> bool:
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
    return is_member(fields)


def ordered(fields: Fields) -> Fields:
    """The same with the steps of each level in their order, as it is written."""
    steps = list(fields)
    if len(steps) > 1:
        # Names sort as they are, and `.` comes before all of them.
        steps.sort()
        if steps[-1][0] != "f":
            steps.sort(key=order)
    return {step: ordered(branch) if (branch := fields[step]) else branch for step in steps}


def parsed(said: Any, depth: int = 0) -> Fields:
    """The set that FieldsV1 of a client says. Steps of kinds nobody knows are left out."""
    if not isinstance(said, dict) or depth > _DEEPEST:
        raise BadStep(str(said)[:64])
    fields: Fields = {}
    for step, below in said.items():
        if step == SELF:
            if depth:
                fields[SELF] = {}
            continue
        known = canonical(step)
        if known is not None:
            branch = parsed(below, depth + 1)
            fields[known] = {} if branch.keys() == {SELF} else branch
    return fields
