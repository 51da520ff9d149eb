# SPDX-License-Identifier: Apache-2.0
"""Mutating webhooks: one after the other, each on what the last one left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.admission import answers, patching
from trellis.embedded.admission.calling import Calling, failed
from trellis.embedded.admission.requests import converted
from trellis.embedded.copying import copied

if TYPE_CHECKING:
    from trellis.embedded.admission.hooks import Hook
    from trellis.embedded.admission.matching import Match
    from trellis.embedded.asking import Object, Review


@dataclass(slots=True)
class Rounds:
    """What decides whether a webhook is asked a second time, for one request."""

    again: bool = False
    """A webhook changed the object: the whole chain runs once more."""
    asked: set[str] = field(default_factory=set)
    """Those that were asked since the last change and want to know of a next one."""
    due: set[str] = field(default_factory=set)
    left: Object | None = None
    """The object as the webhooks left it."""

    def changed(self) -> None:
        self.due |= self.asked
        self.asked = set()


class Mutating:
    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def run(self, review: Review, found: list[Match], rounds: Rounds) -> None:
        """`found` match by their rules; the rest is looked at when their turn comes."""
        second = rounds.again
        if second and review.new != rounds.left:
            rounds.changed()
        first_patch = True
        for match in found:
            hook = match.hook
            if not self._calling.wanted(match, review):
                continue
            if second and hook.identity not in rounds.due:
                continue
            before = review.new
            if await self._one(match, review):
                # An object that was just made holds a time that is finer than any that is read
                # back, so the first patch of a native kind changes it whatever it says.
                if review.new != before or (first_patch and not review.served.custom):
                    rounds.changed()
                    rounds.again = True
                first_patch = False
            if hook.again:
                rounds.asked.add(hook.identity)
        rounds.left = copied(review.new) if rounds.again else review.new

    async def _one(self, match: Match, review: Review) -> bool:
        """Whether a patch was applied. Raises a Refusal."""
        hook = match.hook
        try:
            verdict = await self._calling.verdict(match, review, mutating=True)
            if not verdict.allowed:
                raise answers.Denied(hook.name, verdict.status)
            operations = patching.operations(verdict.patch) if verdict.patch else []
        except answers.Unusable as problem:
            if hook.may_fail:
                return False
            raise failed(hook, problem) from None
        if not operations:
            return False
        self._patch(operations, hook, match, review)
        return True

    def _patch(self, operations: list[object], hook: Hook, match: Match, review: Review) -> None:
        item = converted(review.new, review, match.target)
        changed = patching.apply(operations, review, hook.name, item)
        if match.target is not review.served:
            changed["apiVersion"] = review.served.api_version
        if not review.subresource:
            review.served.strategy.default(changed)
        review.new = changed
