# SPDX-License-Identifier: Apache-2.0
"""Many stories, and one line that says what came of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.sim.telling import Report, tell
from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sim.story import Story


def told_to_the_end(story: Story, told: Callable[[Story], Report] = tell) -> Report:
    """What breaks the telling itself is a finding too: others are yet to be told."""
    try:
        return told(story)
    except Exception as error:  # whatever it is, it is not the end of a run
        finding = Finding("simulation", f"it broke off: {type(error).__name__}: {error}")
        return Report(story, findings=[finding])


@dataclass(slots=True)
class Tally:
    """The sums over all stories that were told."""

    schedules: int = 0
    steps: int = 0
    fewest_steps: int | None = None
    faults: Counter[str] = field(default_factory=Counter)
    fewest_faults: int | None = None
    violations: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def add(self, report: Report) -> None:
        struck = report.faults.total()
        self.schedules += 1
        self.steps += report.steps
        self.fewest_steps = min(report.steps, self.fewest_steps or report.steps)
        self.fewest_faults = (
            struck if self.fewest_faults is None else min(struck, self.fewest_faults)
        )
        self.faults.update(report.faults)
        if report.findings:
            self.failed.append(report.story.name)
            self.violations.update({one.id for one in report.findings})

    def merge(self, other: Tally) -> None:
        self.schedules += other.schedules
        self.steps += other.steps
        known = [each for each in (self.fewest_steps, other.fewest_steps) if each is not None]
        self.fewest_steps = min(known, default=None)
        known = [each for each in (self.fewest_faults, other.fewest_faults) if each is not None]
        self.fewest_faults = min(known, default=None)
        self.faults.update(other.faults)
        self.violations.update(other.violations)
        self.failed += other.failed

    def line(self, seconds: float) -> str:
        faults = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults.items()))
        rate = self.schedules / seconds if seconds else 0.0
        broken = ", ".join(f"{name} {count}" for name, count in sorted(self.violations.items()))
        return (
            f"{self.schedules} schedules in {seconds:.0f} s ({rate:.1f}/s), {self.steps} steps "
            f"(fewest {self.fewest_steps}), {self.faults.total()} faults (fewest "
            f"{self.fewest_faults}): {faults or 'none'}; {len(self.failed)} violations"
            f"{f' ({broken})' if broken else ''}"
        )
