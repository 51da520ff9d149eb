# SPDX-License-Identifier: Apache-2.0
"""The condition and the events that tell of an update, and how soon. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from trellis.api.conditions import Finding, Status
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.reasons import updates
from trellis.runtime.notes import Note
from trellis.workloads.deadlines import told
from trellis.workloads.pacing import Haste
from trellis.workloads.updates.progress.spans import span_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.faults import LastError
    from trellis.api.grove.updates import CliqueProgress, GroupProgress, SetProgress
    from trellis.api.reasons import Reason
    from trellis.workloads.updates.decisions import Outlook
    from trellis.workloads.updates.progress.spans import Span

_LEFT = updates.UPDATE_WAITS_FOR_DELETION


def finding(found: Span | None, outlook: Outlook) -> Finding:
    """Whether an update is under way. One that waits for people to delete pods is not."""
    if found is not None and found.is_open:
        if outlook.ended:
            text = "Not everything that the new template asks for is written yet"
            return _finding(Status.TRUE, updates.UPDATE_IN_PROGRESS, text)
        return _finding(Status.TRUE, outlook.why.reason, outlook.why.text)
    if outlook.why.reason is _LEFT or outlook.held:
        return _finding(Status.FALSE, outlook.why.reason, outlook.why.text)
    if found is None or found.ended is None:
        return _finding(Status.FALSE, updates.NO_UPDATE, "There has been no update")
    text = f"The last update ended at {told(found.ended)}"
    return _finding(Status.FALSE, updates.UPDATE_COMPLETED, text)


def notes(
    before: SetProgress | GroupProgress | CliqueProgress | None,
    after: SetProgress | GroupProgress | CliqueProgress | None,
    outlook: Outlook,
) -> Iterator[Note]:
    """What is to be told when a status is written: that an update began or ended.

    `before` and `after` are what the status said of it, and what it says next.
    """
    was, now = span_of(before), span_of(after)
    if now is None:
        return
    if was is None or was.started != now.started:
        yield Note(updates.UPDATE_STARTED.token, f"An update began. {outlook.why.text}")
    if now.ended is not None and (was is None or was != now):
        text = f"The update has ended. {outlook.why.text}"
        reason = _LEFT if outlook.why.reason is _LEFT else updates.UPDATE_COMPLETED
        yield Note(reason.token, text)


def step(before: Span | None, after: Span | None, *, rolls: bool) -> Haste:
    """How soon it is told what an update goes on by. That one began may not show for long; and what
    ends because nothing is rolled any more ends at once."""
    began = after is not None and (before is None or before.started != after.started)
    return Haste.NEXT_STEP if rolls and not began else Haste.FIRST_STEP


class Serving(Protocol):
    """What has replicas that serve."""

    @property
    def replicas(self) -> int: ...

    @property
    def available_replicas(self) -> int: ...

    @property
    def updated_replicas(self) -> int: ...

    @property
    def last_errors(self) -> tuple[LastError, ...]: ...


def meanwhile(before: Serving, after: Serving, span: Span | None) -> Haste:
    """How soon everything else is told: while an update is open, mere counts now and then. What
    serves, and how far it is, follows from what PodCliques tell, who have waited long enough."""
    if span is None or not span.is_open:
        is_on_its_way = after.available_replicas < after.replicas and not after.last_errors
        return Haste.AS_IT_GOES if is_on_its_way else Haste.SOON
    served, serves = ((one.available_replicas, one.updated_replicas) for one in (before, after))
    return Haste.NOW_AND_THEN if served == serves else Haste.NEXT_STEP


def _finding(status: Status, reason: Reason, text: str) -> Finding:
    return Finding(type=UPDATE_IN_PROGRESS, status=status, reason=reason, message=text)
