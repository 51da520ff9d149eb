# SPDX-License-Identifier: Apache-2.0
"""What a handler answers: a value, decided from the review alone. Nothing is written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.webhooks.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing that is wrong with one field. kubectl prints it as `field: message`."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The request may pass. `object` is what it becomes, as a dict or a struct of the whole object;
    None leaves it as it came."""

    object: Any = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The request may not pass. The API server hands all of this to the caller."""

    message: str
    reason: str = "Forbidden"
    code: int = 403
    causes: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 400 <= self.code < 500:
            raise ValueError(f"a refusal cannot have code {self.code}: 400 to 499 are for callers")


Verdict = Allowed | Denied
Handler = Callable[["Review"], Verdict]
"""A pure function of one review, and of a view that it was given when it was made.

It runs in a worker thread, so the view must be safe to read while the loop changes what is behind
it: a snapshot is. Being no coroutine, it cannot call the API, and so has no side effects.
"""

ALLOWED = Allowed()


def invalid(*causes: Cause, warnings: tuple[str, ...] = ()) -> Denied:
    """The refusal of an object for its fields, in the words the API server has for its own."""
    return Denied(
        message="; ".join(": ".join(filter(None, (c.field, c.message))) for c in causes),
        reason="Invalid",
        code=422,
        causes=causes,
        warnings=warnings,
    )
