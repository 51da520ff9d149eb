# SPDX-License-Identifier: Apache-2.0
"""What a round of converging did, and what it could not do. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Literal, TypeAlias

from trellis.kube.errors import (
    BadRequest,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
    TooLarge,
    Unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from trellis.api.meta import Metadata

Verb: TypeAlias = Literal["create", "patch", "delete"]

# The server has looked at this very object and will not have it: others may do better.
OF_ONE_OBJECT = (Invalid, BadRequest, TooLarge)
# An answer to be shown to people, rather than a trouble to be sat out.
_VERDICTS = (*OF_ONE_OBJECT, Forbidden, NotFound, Unsupported)


@dataclass(frozen=True, slots=True)
class NameConflict:
    """The name that an object was to have belongs to an object of somebody else."""

    name: str
    holder: str

    @classmethod
    def held_by(cls, found: Metadata) -> NameConflict:
        controller = found.controller
        whom = f"{controller.kind} {controller.name}" if controller else "nobody"
        return cls(found.name, whom)

    def __str__(self) -> str:
        return f"{self.name} belongs to {self.holder}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The server will not do it, and says why."""

    verb: Verb
    name: str
    error: Refused

    def __str__(self) -> str:
        return f"{self.verb} {self.name}: {self.error.failure.message or self.error}"


class Success(Enum):
    WRITTEN = auto()
    OVERTAKEN = auto()
    """Somebody else was faster; the cache will show by what."""
    FUTILE = auto()
    """The server has taken it, and changed nothing by it."""


WRITTEN, OVERTAKEN, FUTILE = Success.WRITTEN, Success.OVERTAKEN, Success.FUTILE
Result: TypeAlias = Success | NameConflict


@dataclass(frozen=True, slots=True)
class Step:
    """One write, yet to be made."""

    verb: Verb
    name: str
    act: Callable[[], Awaitable[Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Converged:
    """What was done, and what could not be. Names are of objects."""

    created: tuple[str, ...] = ()
    patched: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    futile: tuple[str, ...] = ()
    """Not as wanted, and patches change nothing about it: nobody tells when it has become so."""
    blocked: tuple[str, ...] = ()
    """Wanted, but the name is held by an object that is going: its end wakes the owner."""
    conflicts: tuple[NameConflict, ...] = ()
    refused: tuple[Refusal, ...] = ()
    """Nothing wakes the owner when a refusal is lifted, nor where no cache shows who has a name:
    look again after a while."""

    @property
    def complete(self) -> bool:
        return not (self.blocked or self.conflicts or self.refused)

    @property
    def wrote(self) -> bool:
        return bool(self.created or self.patched or self.deleted)

    def counts(self) -> dict[str, int]:
        """How many of each, without what there is none of."""
        counted = {name: len(getattr(self, name)) for name in self.__slots__}
        return {name: count for name, count in counted.items() if count}


@dataclass
class Tally:
    """Gathers the results of steps. `trouble` is the first that was not the server's last word."""

    blocked: list[str]
    conflicts: list[NameConflict]
    done: dict[Verb, list[str]] = field(
        default_factory=lambda: {"create": [], "patch": [], "delete": []}
    )
    futile: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    trouble: Exception | None = None

    def add(self, steps: Sequence[Step], results: Sequence[Result | Exception | None]) -> None:
        for step, result in zip(steps, results, strict=True):
            self._add(step, result)

    def converged(self) -> Converged:
        return Converged(
            created=tuple(self.done["create"]),
            patched=tuple(self.done["patch"]),
            deleted=tuple(self.done["delete"]),
            futile=tuple(self.futile),
            blocked=tuple(self.blocked),
            conflicts=tuple(self.conflicts),
            refused=tuple(self.refused),
        )

    def _add(self, step: Step, result: Result | Exception | None) -> None:
        match result:
            case Success.WRITTEN:
                self.done[step.verb].append(step.name)
            case Success.FUTILE:
                self.futile.append(step.name)
            case NameConflict():
                self.conflicts.append(result)
            case Refused() if isinstance(result, _VERDICTS):
                self.refused.append(Refusal(step.verb, step.name, result))
            case Exception():
                self.trouble = self.trouble or result
