# SPDX-License-Identifier: Apache-2.0
"""One call of one webhook: whether it is due, what it is sent, and its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from trellis.embedded.admission import answers
from trellis.embedded.admission.bindings import Asked, bindings
from trellis.embedded.admission.conditions import Undecided
from trellis.embedded.admission.hooks import HARMLESS, Client, Hook
from trellis.embedded.admission.requests import body
from trellis.embedded.refusals import Refusal, bad_request, forbidden, internal

if TYPE_CHECKING:
    from random import Random

    from trellis.embedded.admission.answers import Verdict
    from trellis.embedded.admission.matching import Match
    from trellis.embedded.admission.selection import NamespaceOf
    from trellis.embedded.admission.surroundings import Authorize
    from trellis.embedded.asking import Review


class Caller(Protocol):
    """Carries a review to a webhook and its answer back; raises `Unusable`."""

    async def call(self, client: Client, review: bytes, seconds: int) -> bytes: ...


class Calling:
    def __init__(
        self, caller: Caller, random: Random, namespace_of: NamespaceOf, authorize: Authorize
    ) -> None:
        self._caller = caller
        self._random = random
        self._namespace_of = namespace_of
        self._authorize = authorize

    def wanted(self, match: Match, review: Review) -> bool:
        """What remains after the rules: selectors, then conditions."""
        hook = match.hook
        if not hook.selectors.select(review, self._namespace_of):
            return False
        if not hook.conditions.expressions:
            return True
        asked = Asked(review=review, target=match.target, authorize=self._authorize)
        try:
            return hook.conditions.hold(bindings(asked))
        except Undecided as undecided:
            served = match.target
            raise forbidden(served.group, served.plural, review.name, str(undecided)) from None

    async def verdict(self, match: Match, review: Review, *, mutating: bool) -> Verdict:
        """Raises `Unusable`. Warnings are handed on whatever the verdict."""
        hook = match.hook
        if review.dry_run and hook.side_effects not in HARMLESS:
            raise bad_request(f'admission webhook "{hook.name}" does not support dry run')
        if not hook.version:
            known = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
            raise answers.Unusable(f"could not create admission objects: {known}")
        uid = str(UUID(int=self._random.getrandbits(128), version=4))
        sent = body(review, match.target, uid, hook.version)
        answer = await self._caller.call(hook.client, sent, hook.seconds)
        found = answers.read(answer, uid, hook.version, mutating=mutating)
        review.warnings.extend(found.warnings)
        return found


def failed(hook: Hook, problem: answers.Unusable) -> Refusal:
    return internal(f'failed calling webhook "{hook.name}": {problem}')
