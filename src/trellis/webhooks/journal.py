# SPDX-License-Identifier: Apache-2.0
"""What the log says about reviews: which one, whose, and what became of it.

Never in a log: an object, a value of a field, the words of a handler's exception (they may quote
one). What is left are names, and the places in our own code.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from trellis.webhooks.hearing import Heard
    from trellis.webhooks.review import Review

_FRAMES = 5
_FIELDS = 10
_FIELD_LENGTH = 200

log = structlog.get_logger("webhooks")


def denied(path: str, heard: Heard) -> None:
    """Says that a review was denied, if it was."""
    status = heard.response.status
    if status is None:
        return
    fields = [cause.field[:_FIELD_LENGTH] for cause in status.details.causes[:_FIELDS]]
    log.info(
        "a review was denied",
        path=path,
        **_named(heard.review),
        code=status.code,
        reason=status.reason,
        fields=fields,
    )


def failed(path: str, review: Review | None, error: Exception, *, late: bool) -> None:
    log.error(
        "a webhook handler was late" if late else "a webhook handler failed",
        path=path,
        **(_named(review) if review else {}),
        error=type(error).__name__,
        at=_places(error),
    )


def _named(review: Review) -> dict[str, str]:
    return {
        "uid": review.uid,
        "operation": review.operation.value,
        "resource": f"{review.resource.resource}.{review.resource.group}".rstrip("."),
        "namespace": review.namespace,
        "name": review.name,
        "user": review.user.username,
    }


def _places(error: BaseException) -> list[str]:
    """Where it was raised, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return [f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames]
