# SPDX-License-Identifier: Apache-2.0
"""Until when what is broken may recover before it is made anew: an absolute time. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.api import durations
from trellis.workloads.admission.defaults import TERMINATION_DELAY

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.podcliqueset import PodCliqueSet


def deadline(broken_since: datetime, owner: PodCliqueSet) -> datetime:
    """When a breach that has lasted since then is up."""
    return broken_since + termination_delay(owner)


def termination_delay(owner: PodCliqueSet) -> timedelta:
    """What the set says. Where it was stored by a server without our admission: the default."""
    written = owner.spec.template.termination_delay
    try:
        return timedelta(seconds=durations.to_seconds(written or TERMINATION_DELAY))
    except durations.InvalidDuration:
        return timedelta(seconds=durations.to_seconds(TERMINATION_DELAY))


def told(moment: datetime) -> str:
    """The time as it is written in messages."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
