# SPDX-License-Identifier: Apache-2.0
"""Lists of indexes as jobs write them: `1,3-5,7`."""

from __future__ import annotations


def problem_of_indexes(text: str, completions: int) -> tuple[int, str]:
    """How many indexes the text names, and what is wrong with it."""
    if not text:
        return 0, ""
    total, last = 0, -1
    for interval in text.split(","):
        first, second, problem = _interval(interval, completions)
        if problem:
            return total, problem
        if first <= last:
            return total, f"non-increasing order, previous: {last}, current: {first}"
        total += second - first + 1
        last = second
    return total, ""


def _interval(text: str, completions: int) -> tuple[int, int, str]:
    parts = text.split("-")
    if len(parts) > 2:
        problem = (
            f'the fragment "{text}" violates the requirement that an index interval can have at '
            "most two parts separated by '-'"
        )
        return 0, 0, problem
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            problem = f'cannot convert string to integer for index: "{part}"'
            return 0, 0, problem
        if int(part) >= completions:
            return 0, 0, f'too large index: "{part}"'
    first, second = int(parts[0]), int(parts[-1])
    if len(parts) == 2 and first >= second:
        return 0, 0, f"non-increasing order, previous: {first}, current: {second}"
    return first, second, ""
