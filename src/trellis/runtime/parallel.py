# SPDX-License-Identifier: Apache-2.0
"""Many writes at once, few at first: a wall that all would run into is found out by a handful."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from trellis.kube.batch import together

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

R = TypeVar("R")

# Begun at once, and how many more may be under way after each success.
FIRST = 4
GROWTH = 2


async def in_parallel(
    acts: Sequence[Callable[[], Awaitable[R]]],
    limit: int,
    goes_on: Callable[[Exception], bool],
    *,
    finishes: bool = False,
) -> list[R | Exception | None]:
    """The result of each act, or what it raised; None for those that were never begun.

    After an error with which it does not go on, no further act is begun. Acts that finish what is
    begun elsewhere go before others.
    """
    results: list[R | Exception | None] = [None] * len(acts)
    todo = iter(range(len(acts)))
    stopped = False
    workers = 0

    async def work(group: asyncio.TaskGroup) -> None:
        nonlocal stopped
        for index in todo:
            try:
                results[index] = await acts[index]()
            except Exception as error:
                results[index] = error
                stopped = stopped or not goes_on(error)
            else:
                hire(group, GROWTH)
            if stopped:
                return

    def hire(group: asyncio.TaskGroup, number: int) -> None:
        nonlocal workers
        for _ in range(min(number, limit - workers, len(acts) - workers)):
            workers += 1
            group.create_task(work(group))

    with together(len(acts), finishes=finishes):
        async with asyncio.TaskGroup() as group:
            hire(group, FIRST)
    return results
