# SPDX-License-Identifier: Apache-2.0
"""Validating webhooks: all at once. One refusal is told, of several the first that came."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trellis.embedded.admission import answers
from trellis.embedded.admission.calling import Calling, failed
from trellis.embedded.refusals import Refusal

if TYPE_CHECKING:
    from trellis.embedded.admission.matching import Match
    from trellis.embedded.asking import Review


class Validating:
    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def run(self, review: Review, found: list[Match]) -> None:
        wanted = [match for match in found if self._calling.wanted(match, review)]
        if not wanted:
            return
        refusals: list[Refusal] = []
        await asyncio.gather(*(self._one(match, review, refusals) for match in wanted))
        if refusals:
            raise refusals[0]

    async def _one(self, match: Match, review: Review, refusals: list[Refusal]) -> None:
        hook = match.hook
        try:
            verdict = await self._calling.verdict(match, review, mutating=False)
            if not verdict.allowed:
                refusals.append(answers.Denied(hook.name, verdict.status))
        except answers.Unusable as problem:
            if not hook.may_fail:
                refusals.append(failed(hook, problem))
        except Refusal as refusal:
            refusals.append(refusal)
