# SPDX-License-Identifier: Apache-2.0
"""One review from bytes to bytes: read, let the handler decide, write. Pure, and in any thread.

A simulation hears reviews with this alone, without a server, a thread or a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import strictjson
from trellis.webhooks.review import Response, Review, Unfit, decode, encode, respond

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
        self.review = decode(self._body, self._limits)
        response = respond(self.review, self._verdict(self.review))
        return Heard(review=self.review, response=response, content=encode(response))

    def _verdict(self, review: Review) -> Verdict:
        try:
            return self._handler(review)
        except Unfit as unfit:
            return unfit.denied
