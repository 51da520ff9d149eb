# SPDX-License-Identifier: Apache-2.0
"""Conditions: how findings become the conditions of a status. Pure; the time is a parameter.

Ours are merged by type; those of others survive. `lastTransitionTime` moves only when the status
does, so a settled object is never written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from msgspec import structs

from trellis.api.meta import Time, Value, always, to_seconds
from trellis.api.schema.marks import mark

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from trellis.api.reasons import Reason

READY = "Ready"
RECONCILING = "Reconciling"
STALLED = "Stalled"
SUMMARY = (READY, RECONCILING, STALLED)


class Status(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"

    @classmethod
    def of(cls, fact: bool) -> Status:
        return cls.TRUE if fact else cls.FALSE


class Condition(Value, frozen=True, kw_only=True):
    """One condition as it is stored."""

    type: Annotated[str, mark("What this is about.", maxLength=316)]
    status: Annotated[
        str, mark("Whether it is so.", required=True, enum=["True", "False", "Unknown"])
    ] = always(Status.UNKNOWN.value)
    observed_generation: Annotated[
        int, mark("The generation of the object that was judged.", format="int64", minimum=0)
    ] = 0
    last_transition_time: Annotated[
        Time | None, mark("When the status last changed.", required=True)
    ] = None
    reason: Annotated[
        str,
        mark(
            "Why, in one word from the catalogue of reasons.",
            required=True,
            minLength=1,
            maxLength=1024,
            pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        ),
    ] = always("")
    message: Annotated[
        str, mark("Why, in a sentence with names and numbers.", required=True, maxLength=32768)
    ] = always("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a controller found out about one condition in one pass."""

    type: str
    status: Status
    reason: Reason
    message: str = ""


@dataclass(frozen=True, slots=True)
class Pass:
    """The pass that found it: the generation looked at, and the time."""

    generation: int
    now: datetime


class Motion(StrEnum):
    """Whether a controller is still at work on an object."""

    SETTLED = "settled"
    MOVING = "moving"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How an object is, in one word: the worst that applies."""

    ready: bool
    motion: Motion
    reason: Reason
    message: str = ""


def merged(
    present: tuple[Condition, ...],
    findings: Iterable[Finding],
    owned: Collection[str],
    seen: Pass,
) -> tuple[Condition, ...]:
    """The conditions of the next status.

    `owned` are all types that the caller ever writes: one that it did not find this time goes.
    """
    found = {finding.type: finding for finding in findings}
    kept: dict[str, Condition] = {}
    for condition in present:
        finding = found.pop(condition.type, None)
        if finding is not None:
            kept.setdefault(condition.type, _updated(condition, finding, seen))
        elif condition.type not in owned:
            kept.setdefault(condition.type, condition)
    return (*kept.values(), *(_new(finding, seen) for finding in found.values()))


def summary(verdict: Verdict) -> tuple[Finding, ...]:
    """The three conditions by which tools such as `kubectl wait` and Flux tell how an object is."""
    facts = {
        READY: verdict.ready,
        RECONCILING: verdict.motion is Motion.MOVING,
        STALLED: verdict.motion is Motion.STUCK,
    }
    return tuple(
        Finding(type=type_, status=Status.of(fact), reason=verdict.reason, message=verdict.message)
        for type_, fact in facts.items()
    )


def find(conditions: Iterable[Condition], type_: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: Iterable[Condition], type_: str) -> bool:
    found = find(conditions, type_)
    return found is not None and found.status == Status.TRUE.value


def _updated(condition: Condition, finding: Finding, seen: Pass) -> Condition:
    moved = condition.status != finding.status.value or condition.last_transition_time is None
    return structs.replace(
        condition,
        status=finding.status.value,
        reason=finding.reason.token,
        message=finding.message,
        observed_generation=seen.generation,
        last_transition_time=to_seconds(seen.now) if moved else condition.last_transition_time,
    )


def _new(finding: Finding, seen: Pass) -> Condition:
    return _updated(Condition(type=finding.type), finding, seen)
