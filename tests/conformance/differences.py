# SPDX-License-Identifier: Apache-2.0
"""How far a server is from the goldens, and which of its differences are known and explained.

`known_differences.yaml` says of each: the probe's key, or a pattern of keys, and why. A difference
that is not listed fails; so does a line of the list that nothing differs by any more. Probes of
what every client meets must show the same codes and reasons even so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.conformance import goldens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.goldens import Observations
    from tests.conformance.runner import Seen

FILE = Path(__file__).parent / "known_differences.yaml"
# The areas of what spec/embedded.md 1.2 calls P0: create, update, patch, delete, list, watch.
FIRST = frozenset(
    {
        "create",
        "create_metadata",
        "create_values",
        "delete",
        "delete_collection",
        "delete_options",
        "list",
        "list_selectors",
        "patch",
        "patch_json",
        "patch_merge",
        "patch_strategic",
        "update",
        "update_kinds",
        "watch",
        "watch_events",
        "watch_list",
    }
)


class Likeness(StrEnum):
    IDENTICAL = "identical"
    SAME_REASONS = "same codes and reasons"
    DIFFERENT = "different"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Known:
    probe: str
    reason: str

    def covers(self, key: str) -> bool:
        """A pattern has `*` for anything; every other character stands for itself."""
        return fnmatchcase(key, self.probe.replace("[", "[[]").replace("?", "[?]"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one probe. `problem` is set if that may not be."""

    key: str
    likeness: Likeness
    known: Known | None = None
    problem: str = ""


@dataclass(slots=True)
class Report:
    verdicts: list[Verdict] = field(default_factory=list)
    stale: list[Known] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        return [
            *(f"{verdict.key}\n{verdict.problem}" for verdict in self.verdicts if verdict.problem),
            *(f"{known.probe!r} differs no more: take it off {FILE.name}" for known in self.stale),
        ]

    @property
    def identical_share(self) -> float:
        found = [verdict.likeness is Likeness.IDENTICAL for verdict in self.verdicts]
        return sum(found) / len(found) if found else 1.0

    @property
    def summary(self) -> str:
        count = Counter(verdict.likeness for verdict in self.verdicts)
        same = count[Likeness.IDENTICAL] + count[Likeness.SAME_REASONS]
        known = sum(verdict.known is not None for verdict in self.verdicts)
        return (
            f"{len(self.verdicts)} probes: {count[Likeness.IDENTICAL]} identical "
            f"({self.identical_share:.1%}), {same} of the same codes and reasons, "
            f"{known} known to differ, {len(self.problems)} problems"
        )


def read(file: Path = FILE) -> list[Known]:
    return [Known(**entry) for entry in yaml.safe_load(file.read_text()) or ()]


def judge(
    recorded: Mapping[str, Observations], seen: Mapping[str, Seen], known: Sequence[Known]
) -> Report:
    """Judges what was seen. Lines of the list that cover none of it are left alone."""
    report = Report()
    for key, outcome in sorted(seen.items()):
        entry = next((one for one in known if one.covers(key)), None)
        report.verdicts.append(_verdict(recorded.get(key, []), outcome, entry))
    used = {
        verdict.known.probe
        for verdict in report.verdicts
        if verdict.known and verdict.likeness is not Likeness.IDENTICAL
    }
    asked = [one for one in known if any(one.covers(key) for key in seen)]
    report.stale = [one for one in asked if one.probe not in used]
    return report


def likeness(golden: Observations, outcome: Seen) -> Likeness:
    if outcome.broken:
        return Likeness.BROKEN
    if golden == outcome.observations:
        return Likeness.IDENTICAL
    same = _gist(golden) == _gist(outcome.observations)
    return Likeness.SAME_REASONS if same else Likeness.DIFFERENT


def _verdict(golden: Observations, outcome: Seen, known: Known | None) -> Verdict:
    key, like = outcome.probe.key, likeness(golden, outcome)
    if like is Likeness.IDENTICAL:
        return Verdict(key, like)
    first = outcome.probe.area in FIRST and like is not Likeness.SAME_REASONS
    if known and not first:
        return Verdict(key, like, known)
    said = outcome.broken or goldens.difference(golden, outcome.observations) or ""
    why = "is known, but codes and reasons must be the same here" if known else "is not explained"
    return Verdict(key, like, known, f"{like.value}, and that {why}:\n{said}")


def _gist(observations: Observations) -> list[Any]:
    """Codes and reasons of the answers, in their order. Events count by what they are about."""
    return [_gist_of(one) for one in observations if "request" in one]


def _gist_of(observation: dict[str, Any]) -> tuple[Any, ...]:
    events = [
        (event.get("type"), _reason(event.get("object"))) for event in observation.get("events", [])
    ]
    return observation["status"], _reason(observation.get("body")), events


def _reason(body: Any) -> Any:
    is_status = isinstance(body, dict) and body.get("kind") == "Status"
    return body.get("reason") if is_status else None
