# SPDX-License-Identifier: Apache-2.0
"""Times as objects write them, to the second."""

from __future__ import annotations

from datetime import UTC, datetime

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_SECONDS = len("2026-01-31T23:59:59")


def stamp(moment: datetime) -> str:
    return f"{moment.isoformat(timespec='seconds')[:_SECONDS]}Z"


def moment_of(text: str) -> datetime:
    return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
