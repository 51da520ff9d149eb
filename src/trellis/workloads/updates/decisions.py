# SPDX-License-Identifier: Apache-2.0
"""What is decided about an update, each with why: values, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.reasons import Reason


@dataclass(frozen=True, slots=True)
class Why:
    """One word from the catalogue, and a sentence with names and numbers."""

    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is renewed now: the pods of these indices, or replicas of a group or of a set.

    `paid` are those of them that were Ready, and cost budget.
    """

    indices: tuple[int, ...]
    why: Why
    paid: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Where an update stands.

    `active`: what is being updated now, the step included. `held`: what is outdated and keeps its
    spec for now. `again`: when to look again though nobody tells. `why` says what goes on, or why
    nothing does, and `hindrance` what somebody must do something about: that nothing more can be
    made, or nothing has moved for longer than the deadline.
    """

    ended: bool
    why: Why
    step: Step | None = None
    active: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    again: datetime | None = None
    hindrance: Why | None = None
