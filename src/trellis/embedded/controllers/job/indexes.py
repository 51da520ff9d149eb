# SPDX-License-Identifier: Apache-2.0
"""Lists of indexes as Jobs write them: `1,3-5,7`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def parse(text: str, completions: int) -> frozenset[int]:
    """The indexes of a list that are below the number of completions."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            continue
        found.update(range(int(first), min(int(last or first) + 1, completions)))
    return frozenset(found)


def to_text(indexes: Iterable[int]) -> str:
    return ",".join(_written(*run) for run in _runs(sorted(indexes)))


def _runs(ordered: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for index in ordered:
        if last >= 0 and index == last + 1:
            last = index
            continue
        if last >= 0:
            yield first, last
        first = last = index
    if last >= 0:
        yield first, last


def _written(first: int, last: int) -> str:
    if first == last:
        return str(first)
    # Two in a row are not worth a range.
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"
