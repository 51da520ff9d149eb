# SPDX-License-Identifier: Apache-2.0
"""What the admission server counts. Every series is there from the start, at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from trellis.webhooks.refusals import CAUSES
from trellis.webhooks.review import Operation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry

    from trellis.webhooks.hearing import Heard
    from trellis.webhooks.review import Review

# From a handler that does nothing to the budget of a review.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0)
FAILED = "failed"
LATE = "late"
VERDICTS = ("allowed", "patched", "denied", FAILED, LATE)
# A handler can be late before the review was even read.
UNREAD = "unread"


class Metrics:
    """Of one server. `paths` are its routes: no other value of that label ever appears."""

    def __init__(self, registry: CollectorRegistry, paths: Iterable[str]) -> None:
        self.reviews = Counter(
            "trellis_admission_reviews_total",
            "Reviews by route, operation and verdict.",
            ("path", "operation", "verdict"),
            registry=registry,
        )
        self.seconds = Histogram(
            "trellis_admission_review_seconds",
            "Seconds from the headers of a review to its answer.",
            ("path",),
            buckets=BUCKETS,
            registry=registry,
        )
        self.in_flight = Gauge(
            "trellis_admission_in_flight",
            "Reviews being heard now.",
            registry=registry,
        )
        self.refused = Counter(
            "trellis_admission_refused_total",
            "Requests that were no review to be heard, by cause.",
            ("cause",),
            registry=registry,
        )
        self.expiry = Gauge(
            "trellis_admission_certificate_expiry_timestamp_seconds",
            "When the certificate now served expires, as a Unix time; 0 before there is one.",
            registry=registry,
        )
        self.certificate_failures = Counter(
            "trellis_admission_certificate_failures_total",
            "Attempts to read, load or rotate a certificate that failed.",
            registry=registry,
        )
        self._initialise(tuple(paths))

    def heard(self, path: str, heard: Heard, seconds: float) -> None:
        response = heard.response
        verdict = ("patched" if response.patch else "allowed") if response.allowed else "denied"
        self._count(path, heard.review, verdict, seconds)

    def failed(self, path: str, review: Review | None, seconds: float, *, late: bool) -> None:
        self._count(path, review, LATE if late else FAILED, seconds)

    def _count(self, path: str, review: Review | None, verdict: str, seconds: float) -> None:
        operation = review.operation.value if review else UNREAD
        self.reviews.labels(path, operation, verdict).inc()
        self.seconds.labels(path).observe(seconds)

    def _initialise(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self.seconds.labels(path)
            self.reviews.labels(path, UNREAD, LATE)
            for operation in Operation:
                for verdict in VERDICTS:
                    self.reviews.labels(path, operation.value, verdict)
        for cause in CAUSES:
            self.refused.labels(cause)
