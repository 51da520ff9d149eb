# SPDX-License-Identifier: Apache-2.0
"""Keeping an eye on one PodClique: a list, then a watch, and on after every interruption.

It never gives up and never hurries: whatever goes wrong is said once and tried again, after a pause
that grows.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from trellis.waiter.events import Expired, Refused, Unreadable, of_event, of_list, refusal
from trellis.waiter.exchange import asked
from trellis.waiter.tally import Missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from trellis.waiter.access import Access
    from trellis.waiter.events import News
    from trellis.waiter.tally import Sight

    Say = Callable[[str], None]

# A PodClique is made before the pods that wait for it. One that is not there was deleted: by
# mistake, then it is back at once, or for good, because its scaling group has fewer replicas now.
GONE_SECONDS = 30.0
LIFETIME_SECONDS = (240, 300)
PAUSE_SECONDS = (0.5, 15.0)

_LOST = (OSError, EOFError, ValueError, Unreadable, asyncio.LimitOverrunError)
_REFUSED = {
    401: "the API server does not know our token",
    403: "the pod's service account may not read it; the RoleBinding grove.io:pcs:… is to allow it",
    404: "the cluster has no PodCliques",
}


class Following:
    """Of the PodClique with that name. `see` hears how it stands, `complain` what is in the way."""

    def __init__(
        self, name: str, access: Access, dice: Random, see: Callable[[Sight], None], complain: Say
    ) -> None:
        self._name = name
        self._access = access
        self._dice = dice
        self._see = see
        self._complain = complain
        self._complaint = ""
        self._version = ""
        self._pause = PAUSE_SECONDS[0]
        self._gone_at: float | None = None
        """When it counts as gone, if it is not there."""

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            rest = 0.0
            try:
                await self._round()
            except Expired:
                self._version = ""
            except Refused as error:
                self._say(_REFUSED.get(error.code, "the API server refuses"), error)
                rest = error.after
            except _LOST as error:
                self._say("the API server cannot be heard", error)
            await asyncio.sleep(rest + self._dice.uniform(self._pause / 2, self._pause))
            self._pause = min(self._pause * 2, PAUSE_SECONDS[1])

    async def _round(self) -> None:
        """One watch, from where the last one ended if that is known."""
        if not self._version or self._is_overdue():
            await self._list()
        limit = asyncio.timeout_at(self._gone_at)
        try:
            async with limit:
                await self._watch()
        except TimeoutError:
            if not limit.expired():
                raise

    async def _list(self) -> None:
        async with asked(self._access, await self._target()) as answer:
            content = await answer.content()
            if answer.status != 200:
                raise refusal(answer.status, content, answer.headers.get("retry-after", ""))
        news = of_list(content)
        if news.sight is Missing.ABSENT and self._is_overdue():
            self._gone_at = None
            news = news._replace(sight=Missing.GONE)
        self._take(news)

    async def _watch(self) -> None:
        options = {
            "watch": "1",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._dice.randint(*LIFETIME_SECONDS)),
        }
        async with asked(self._access, await self._target(**options)) as answer:
            if answer.status != 200:
                content = await answer.content()
                raise refusal(answer.status, content, answer.headers.get("retry-after", ""))
            async with aclosing(answer.lines()) as lines:
                async for line in lines:
                    self._take(of_event(line))
                    self._pause = PAUSE_SECONDS[0]

    def _take(self, news: News) -> None:
        self._version = news.version
        self._complaint = ""
        if news.sight is None:
            return
        if news.sight is not Missing.ABSENT:
            self._gone_at = None
        elif self._gone_at is None:
            self._gone_at = asyncio.get_running_loop().time() + GONE_SECONDS
        self._see(news.sight)

    def _is_overdue(self) -> bool:
        return self._gone_at is not None and asyncio.get_running_loop().time() >= self._gone_at

    async def _target(self, **options: str) -> str:
        query = urlencode({"fieldSelector": f"metadata.name={self._name}", **options})
        namespace = quote(await self._access.namespace(), safe="")
        return f"/apis/grove.io/v1alpha1/namespaces/{namespace}/podcliques?{query}"

    def _say(self, what: str, error: Exception) -> None:
        complaint = f"{self._name}: {what}: {str(error) or type(error).__name__}; trying again"
        if complaint != self._complaint:
            self._complaint = complaint
            self._complain(complaint)
