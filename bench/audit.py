# SPDX-License-Identifier: Apache-2.0
"""What the operator wrote, by the lab's audit log: by its identity, and without leases."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.lab.cluster import Lab

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class Write:
    """`kind` is a resource, with the part of it that was written."""

    verb: str
    kind: str
    name: str
    code: int
    at: datetime

    def __str__(self) -> str:
        return f"{self.verb} {self.kind}{'' if self.code < 300 else f' ({self.code})'}"

    @property
    def is_status(self) -> bool:
        return self.kind.endswith("/status")


def log_end(lab: Lab) -> int:
    """The place in the log that has been reached."""
    return (lab.folder / "audit.log").stat().st_size


def operator_writes(lab: Lab, start: int, end: int) -> list[Write]:
    """What the operator wrote between two places in the log."""
    return [_write(entry) for entry in _entries(lab, start, end) if _is_operators(entry)]


def seconds_behind(lab: Lab, start: int, end: int) -> float:
    """How long after the last that happened to a pod the operator told the last of it."""
    entries = list(_entries(lab, start, end))
    told = [one.at for one in map(_write, filter(_is_operators, entries)) if one.is_status]
    happened = [
        one.at
        for one in map(_write, (each for each in entries if each["verb"] in WRITES))
        if one.kind.split("/")[0] == "pods" and one.code < 300
    ]
    return (max(told) - max(happened)).total_seconds()


def counted(writes: list[Write]) -> Counter[str]:
    return Counter(map(str, writes))


def most_a_second(writes: list[Write]) -> dict[str, int]:
    """How many statuses of one object were written within a second, at worst, by its kind."""
    times: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for one in writes:
        if one.is_status and one.code < 300:
            times[one.kind, one.name].append(one.at)
    worst: Counter[str] = Counter()
    for (kind, _), moments in times.items():
        worst[kind] = max(worst[kind], _most_within_a_second(sorted(moments)))
    return dict(worst)


def _most_within_a_second(moments: list[datetime]) -> int:
    most = first = 0
    for last, moment in enumerate(moments):
        while (moment - moments[first]).total_seconds() >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most


def _entries(lab: Lab, start: int, end: int) -> Iterator[dict[str, Any]]:
    with (lab.folder / "audit.log").open("rb") as log:
        log.seek(start)
        while log.tell() < end:
            yield json.loads(log.readline())


def _is_operators(entry: dict[str, Any]) -> bool:
    mine = entry["user"]["username"] == OPERATOR and entry["verb"] in WRITES
    return mine and entry.get("objectRef", {}).get("resource") != "leases"


def _write(entry: dict[str, Any]) -> Write:
    about = entry.get("objectRef", {})
    return Write(
        verb=entry["verb"],
        kind="/".join(filter(None, (about.get("resource"), about.get("subresource")))),
        name=f"{about.get('namespace', '')}/{about.get('name', '')}",
        code=entry.get("responseStatus", {}).get("code", 0),
        at=datetime.fromisoformat(entry["requestReceivedTimestamp"]),
    )
