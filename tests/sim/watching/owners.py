# SPDX-License-Identifier: Apache-2.0
"""Whose an object is: owners are real, and nobody's objects are touched but our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.chronicle import controller_uid, is_leaving
from tests.sim.ground import INSTALLATION
from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.sim.chronicle import Body, Chronicle, Commit

ROOTS = ("podcliquesets",)
OWNERS = ("podcliquesets", "podcliquescalinggroups", "podcliques", "podgangs")
_UNOWNED = ("events", "leases")
# Longer than anybody is deaf: by then all have heard.
_KNOWN_SECONDS = 90.0


class Owners:
    """I-01 owner is real, I-16 no foreign adoption, I-17 finalizers leave, I-24 confinement."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle
        self._namespaces: dict[str, None] = {INSTALLATION.namespace: None}
        self._leaving: dict[str, float] = {}
        """By uid, since when owners have been leaving."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural in ROOTS:
            self._namespaces[commit.place.namespace] = None
        if commit.place.plural in OWNERS and commit.new is not None and is_leaving(commit.new):
            self._leaving.setdefault(commit.uid, commit.at)
        if not commit.caller.is_operator:
            return
        yield from self._confined(commit)
        if commit.place.plural in _UNOWNED:
            return
        if commit.old is not None:
            yield from self._ours(commit, commit.old)
        if commit.new is not None and commit.place.plural not in ROOTS:
            yield from self._owned(commit, commit.new)
        if commit.old is not None and commit.new is not None:
            yield from _departing(commit, commit.old, commit.new)

    def _confined(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.namespace not in self._namespaces:
            yield Finding("I-24", f"{commit.place} was written, where no set ever was")

    def _ours(self, commit: Commit, old: Body) -> Iterator[Finding]:
        if commit.place.plural in ROOTS:
            return
        owner = self._chronicle.uids.get(controller_uid(old))
        if owner is None or owner.plural not in OWNERS:
            yield Finding("I-16", f"{commit.place} was {_done(commit)}, and is not ours")

    def _owned(self, commit: Commit, new: Body) -> Iterator[Finding]:
        references = new["metadata"].get("ownerReferences", ())
        if sum(1 for one in references if one.get("controller")) != 1:
            yield Finding("I-01", f"{commit.place} has not exactly one controller")
        if commit.old is None:
            yield from self._forlorn(commit, references)
        for one in references:
            owner = self._chronicle.uids.get(one["uid"])
            if owner is None:
                yield Finding("I-01", f"{commit.place} is owned by {one['uid']}, which never was")
            elif (owner.name, owner.namespace) != (one["name"], commit.place.namespace):
                yield Finding("I-01", f"{commit.place} is owned by {owner} under another name")

    def _forlorn(self, commit: Commit, references: Sequence[Body]) -> Iterator[Finding]:
        for one in references:
            since = self._leaving.get(one["uid"], commit.at)
            if commit.at - since > _KNOWN_SECONDS:
                yield Finding("I-01", f"{commit.place} was made for {one['name']}, which leaves")


def _departing(commit: Commit, old: Body, new: Body) -> Iterator[Finding]:
    if not is_leaving(old):
        return
    added = set(new["metadata"].get("finalizers", ())) - set(old["metadata"].get("finalizers", ()))
    if added:
        yield Finding("I-17", f"{commit.place} is leaving and got finalizers {sorted(added)}")


def _done(commit: Commit) -> str:
    return "deleted" if commit.new is None or is_leaving(commit.new) else "changed"
