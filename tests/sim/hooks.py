# SPDX-License-Identifier: Apache-2.0
"""The real webhook handlers, called in this process, and what goes wrong on the way there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.sim.faults import Kind
from tests.sim.ground import OPERATOR
from tests.sim.story import Where
from trellis.api.config.types import OperatorConfiguration
from trellis.app.manifests.workloads import WORKLOAD_WEBHOOKS
from trellis.app.wiring import workload_handlers
from trellis.webhooks.hearing import Hearing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sim.wire import Trouble
    from trellis.embedded.admission.callers import Callers, Handler
    from trellis.webhooks.verdict import Handler as Judge


class Unanswered(Exception):
    """The webhook could not be reached."""


class Hooks:
    """`complain` hears of a review that the handlers could not deal with."""

    def __init__(self, trouble: Trouble, complain: Callable[[str, str], None]) -> None:
        self._trouble = trouble
        self._complain = complain

    def install(self, callers: Callers) -> None:
        judges = workload_handlers(OperatorConfiguration(), OPERATOR.name)
        for webhook in WORKLOAD_WEBHOOKS:
            callers.handle_webhook(
                webhook.name, self._answering(webhook.name, judges[webhook.path])
            )

    def _answering(self, name: str, judge: Judge) -> Handler:
        async def answer(review: bytes) -> bytes:
            fault = self._trouble.next(Where.HOOK)
            if fault is not None:
                self._trouble.struck(fault)
                if fault.kind == Kind.REFUSED:
                    raise Unanswered("connection refused")
                if fault.kind == Kind.HOOK_GARBLED:
                    return b'{"kind":"AdmissionReview","response":{'
                await asyncio.sleep(fault.amount)
            try:
                return Hearing(judge, review).hear().content
            except Exception as error:
                self._complain("webhook", f"{name} failed: {type(error).__name__}: {error}")
                raise

        return answer
