# SPDX-License-Identifier: Apache-2.0
"""What a caller outside gets: only plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trellis.api import durations
from trellis.cel.times import timestamp_text
from trellis.cel.values import Duration, Optional, Timestamp, TypeValue, Uint

_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    Optional: lambda value: plain(value.value) if value.present else None,
    Timestamp: timestamp_text,
    Duration: lambda value: durations.to_text(value.nanos),
    TypeValue: lambda value: value.name,
    Uint: int,
}


def plain(value: Any) -> Any:
    convert = _CONVERSIONS.get(type(value))
    if convert is not None:
        return convert(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    return value
