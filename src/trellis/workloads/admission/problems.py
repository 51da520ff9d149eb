# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a field, in the words of the API server, and what of it is old news.

A problem is told apart from others by names, never by places in a list: an object that was stored
with it may be reordered or changed elsewhere, and keep it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.webhooks.verdict import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SHOWN_TEXT = 80
_SHOWN_ITEMS = 10
_MOST_CAUSES = 50


@dataclass(frozen=True, slots=True)
class Field:
    """A place in an object: as people are told of it, and as it is known when lists are sorted."""

    shown: str
    identity: str

    def __truediv__(self, member: str) -> Field:
        """A member of what is here."""
        return Field(f"{self.shown}.{member}", f"{self.identity}.{member}")

    def item(self, index: int, name: str) -> Field:
        """An item of the list that is here, which its name tells from the others."""
        return Field(f"{self.shown}[{index}]", f"{self.identity}[{name}]")

    def key(self, name: str) -> Field:
        """An entry of the map that is here."""
        cut = name[:_SHOWN_TEXT]
        return Field(f"{self.shown}[{cut}]", f"{self.identity}[{cut}]")


METADATA = Field("metadata", "metadata")
SPEC = Field("spec", "spec")
TEMPLATE = SPEC / "template"
CLIQUES = TEMPLATE / "cliques"
GROUPS = TEMPLATE / "podCliqueScalingGroups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong. `size` is for what may shrink, and so be less wrong than before."""

    field: Field
    message: str
    reason: str
    about: str
    size: int = 0

    @property
    def identity(self) -> tuple[str, str]:
        return self.field.identity, self.about

    @property
    def cause(self) -> Cause:
        return Cause(field=self.field.shown, message=self.message, reason=self.reason)


def invalid(field: Field, value: Any, detail: str) -> Problem:
    return _problem(field, "FieldValueInvalid", f"Invalid value: {shown(value)}: {detail}")


def required(field: Field, detail: str) -> Problem:
    return _problem(field, "FieldValueRequired", f"Required value: {detail}")


def forbidden(field: Field, detail: str) -> Problem:
    return _problem(field, "FieldValueForbidden", f"Forbidden: {detail}")


def unknown(field: Field, value: Any, detail: str) -> Problem:
    return _problem(field, "FieldValueNotFound", f"Not found: {shown(value)}: {detail}")


def unsupported(field: Field, value: Any, supported: Iterable[str]) -> Problem:
    known = ", ".join(shown(one) for one in supported)
    message = f"Unsupported value: {shown(value)}: supported values: {known}"
    return _problem(field, "FieldValueNotSupported", message)


def mistyped(field: Field, said: str) -> Problem:
    return _problem(field, "FieldValueTypeInvalid", f"Invalid value: {said}")


def excessive(field: Field, value: Any, detail: str, size: int, of: str = "") -> Problem:
    """Too much of something, `of` what: less of it is never refused for being still too much."""
    message = f"Invalid value: {shown(value)}: {detail}"
    return Problem(
        field=field, message=message, reason="FieldValueInvalid", about=f"size {of}", size=size
    )


def duplicates(values: Sequence[tuple[Field, str]], remedy: str) -> Iterator[Problem]:
    """A problem for every value that an earlier place has."""
    first: dict[str, Field] = {}
    for field, value in values:
        earlier = first.setdefault(value, field)
        if earlier is not field:
            message = f"Duplicate value: {shown(value)}: {earlier.shown} has it; {remedy}"
            yield Problem(
                field=field, message=message, reason="FieldValueDuplicate", about=f"twice {value}"
            )


def fresh(new: Iterable[Problem], old: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems that are new, or worse than they were."""
    tolerated: dict[tuple[str, str], int] = {}
    for problem in old:
        known = tolerated.get(problem.identity, problem.size)
        tolerated[problem.identity] = max(known, problem.size)
    return tuple(
        problem
        for problem in new
        if problem.identity not in tolerated or problem.size > tolerated[problem.identity]
    )


def causes(problems: Sequence[Problem]) -> tuple[Cause, ...]:
    """For an answer: no more than a person reads, and no word of it twice."""
    told = tuple(dict.fromkeys(problem.cause for problem in problems))
    if len(told) <= _MOST_CAUSES:
        return told
    rest = f"and {len(told) - _MOST_CAUSES} more problems; solve these first"
    return (*told[:_MOST_CAUSES], Cause(field="spec", message=rest))


def shown(value: Any) -> str:
    """The value as JSON, cut where it would fill a screen."""
    if isinstance(value, str):
        value = value[:_SHOWN_TEXT]
    elif isinstance(value, list | tuple):
        value = [str(one)[:_SHOWN_TEXT] for one in value[:_SHOWN_ITEMS]]
    return msgspec.json.encode(value).decode()


def _problem(field: Field, reason: str, message: str) -> Problem:
    return Problem(field=field, message=message, reason=reason, about=message)
