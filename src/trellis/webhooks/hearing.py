# SPDX-License-Identifier: Apache-2.0
"""One review from bytes to bytes: read, let the handler decide, write. Pure, and in any thread.

A simulation hears reviews with this alone, without a server, a thread or a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import strictjson
from trellis.webhooks.refusals import InvalidJson
from trellis.webhooks.review import (
    Response,
    Review,
    Unfit,
    addressed,
    decode,
    encode,
    respond,
    unreadable,
)

if TYPE_CHECKING:
    from trellis.webhooks.verdict import Handler, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A review with its answer; `content` is the whole AdmissionReview to send back."""

    review: Review
    response: Response
    content: bytes


class Hearing:
    """One review under way. `review` is there as soon as it is read, to name a late handler by."""

    def __init__(
        self, handler: Handler, body: bytes, limits: strictjson.Limits = strictjson.REVIEW
    ) -> None:
        self._handler = handler
        self._body = body
        self._limits = limits
        self.review: Review | None = None

    def hear(self) -> Heard:
        """Raises `Refused` for a body that is no review, and whatever the handler raises."""
        try:
            self.review = decode(self._body, self._limits)
        except InvalidJson as why:
            return self._unread(why)
        return _heard(self.review, self._verdict(self.review))

    def _unread(self, why: InvalidJson) -> Heard:
        review = addressed(self._body, self._limits)
        if review is None:
            raise why
        return _heard(review, unreadable(review, why))

    def _verdict(self, review: Review) -> Verdict:
        try:
            return self._handler(review)
        except Unfit as unfit:
            return unfit.denied


def _heard(review: Review, verdict: Verdict) -> Heard:
    response = respond(review, verdict)
    return Heard(review=review, response=response, content=encode(response))
