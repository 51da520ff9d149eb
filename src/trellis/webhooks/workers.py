# SPDX-License-Identifier: Apache-2.0
"""Threads in which handlers run, so that one that does not return holds up neither the others nor
the loop, nor the end of the process.

The threads are daemons, which those of `concurrent.futures` are not: a process must be able to
end although a handler is stuck.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], Any]
    done: asyncio.Future[tuple[Any, BaseException | None]]


class Workers:
    """A fixed number of threads. Work waits for a free one in the order in which it came."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._free = asyncio.Semaphore(count)
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._abandoned = 0
        for number in range(count):
            Thread(target=self._serve, name=f"admission-{number}", daemon=True).start()

    @property
    def stuck(self) -> bool:
        """Whether every thread is held by work whose caller has given up."""
        return self._abandoned == self._count

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns or raises. A caller that is cancelled leaves it to end alone."""
        await self._free.acquire()
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._jobs.put(job)
        try:
            result, error = await job.done
        except asyncio.CancelledError:
            if job.done.cancelled():
                self._abandoned += 1
            raise
        if error is None:
            return cast("T", result)
        if isinstance(error, Exception):
            raise error
        # SystemExit and the like are the handler's to raise, and not to end the process with.
        raise RuntimeError(f"work in a thread raised {type(error).__name__}") from error

    def stop(self) -> None:
        """Ends every thread as soon as it is idle."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _serve(self) -> None:
        while job := self._jobs.get():
            result, error = None, None
            try:
                result = job.work()
            except BaseException as raised:
                error = raised
            # The loop is gone if the process ends while this was under way.
            with contextlib.suppress(RuntimeError):
                job.done.get_loop().call_soon_threadsafe(self._finish, job, result, error)

    def _finish(self, job: _Job, result: Any, error: BaseException | None) -> None:
        self._free.release()
        if job.done.cancelled():
            self._abandoned -= 1
        else:
            job.done.set_result((result, error))
