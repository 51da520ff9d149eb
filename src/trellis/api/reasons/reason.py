# SPDX-License-Identifier: Apache-2.0
"""What an entry of the catalogue of reasons is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Who(StrEnum):
    """Who can do something about it."""

    YOU = "you"
    ADMIN = "admin"
    WAIT = "wait"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Reason:
    """One word for one cause. It is the reason of a condition, the event, and the metric's label.

    `sentence` says what it means and `remedy` what to do; nothing is to be done where `who` is
    nobody.
    """

    token: str
    who: tuple[Who, ...]
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return self.token


YOU = (Who.YOU,)
ADMIN = (Who.ADMIN,)
YOU_OR_ADMIN = (Who.YOU, Who.ADMIN)
WAIT = (Who.WAIT,)
WAIT_OR_ADMIN = (Who.WAIT, Who.ADMIN)
NOBODY = (Who.NOBODY,)
NOTHING = "There is nothing to do."


def well(token: str, sentence: str) -> Reason:
    """A reason for being as one should be."""
    return Reason(token, NOBODY, sentence, NOTHING)
