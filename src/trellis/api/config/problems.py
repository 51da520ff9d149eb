# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a configuration, and how it is said: where, which value, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault. `path` is like `server.webhooks.port`; the remedy is a sentence."""

    path: str
    value: Any
    what: str
    remedy: str

    def __str__(self) -> str:
        shown = repr(self.value)
        if len(shown) > _SHOWN:
            shown = f"{shown[:_SHOWN]}…"
        return f"{self.path or 'the file'}: {shown} {self.what}; {self.remedy}"


class InvalidConfiguration(ValueError):
    """A configuration that the operator must not start with. One line for each fault."""

    def __init__(self, problems: Sequence[Problem | str]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
