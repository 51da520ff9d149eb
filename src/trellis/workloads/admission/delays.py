# SPDX-License-Identifier: Apache-2.0
"""Whether the times that a set names are times. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import durations
from trellis.api.annotation import SETTLE_TIME
from trellis.workloads.admission.problems import METADATA, TEMPLATE, Field, invalid, required

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject


def delay_problems(subject: Subject) -> Iterator[Problem]:
    field, delay = TEMPLATE / "terminationDelay", subject.spec.template.termination_delay
    if not delay:
        yield required(field, "terminationDelay is required; write it like 4h")
    else:
        yield from _positive(field, delay)
    for part in subject.parts:
        update = part.template.rolling_update
        if update is not None and update.progress_deadline:
            yield from _positive(
                part.field / "rollingUpdate" / "progressDeadline", update.progress_deadline
            )
    settle = subject.metadata.annotations.get(SETTLE_TIME)
    if settle is not None:
        field = (METADATA / "annotations").key(SETTLE_TIME)
        yield from _at_least(0, field, settle, "it must not be negative; 0s is none")


def _positive(field: Field, text: str) -> Iterator[Problem]:
    detail = f"{field.shown.rpartition('.')[2]} must be greater than 0"
    return _at_least(1, field, text, detail)


def _at_least(least: int, field: Field, text: str, detail: str) -> Iterator[Problem]:
    try:
        value = durations.parse(text)
    except durations.InvalidDuration as error:
        yield invalid(field, text, str(error))
        return
    if value < least:
        yield invalid(field, text, detail)
