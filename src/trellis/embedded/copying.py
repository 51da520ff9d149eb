# SPDX-License-Identifier: Apache-2.0
"""A copy of a JSON value, many times faster than `copy.deepcopy`."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def copied(value: T) -> T:
    """Dicts and lists are new, all the way down; scalars are shared, being immutable."""
    return _copied(value)  # type: ignore[no-any-return]


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _copied(each) for key, each in value.items()}
    if kind is list:
        return [_copied(each) for each in value]
    return value
