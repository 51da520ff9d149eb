# SPDX-License-Identifier: Apache-2.0
"""Who watches one resource, arranged so that a change finds those whom it may concern.

A subscription lies in one bucket, by the most exact of its wishes. Thousands that watch one object,
one node or one namespace each cost a change nothing, unless it is theirs.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trellis.embedded.store.changes import Telling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.interest import Interest
    from trellis.embedded.store.subscription import Ending, Subscription

Place = tuple[str | None, ...]

_ANYWHERE: Place = ()


class Hub:
    def __init__(self) -> None:
        # Dicts for their order: watchers are told in the order in which they came.
        self._buckets: dict[Place, dict[Subscription, None]] = {}
        self._pinned: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(len(bucket) for bucket in self._buckets.values())

    def add(self, subscription: Subscription) -> None:
        interest = subscription.interest
        self._buckets.setdefault(_place(interest), {})[subscription] = None
        if interest.pinned:
            self._pinned[interest.pinned[0]] += 1

    def discard(self, subscription: Subscription) -> None:
        interest = subscription.interest
        place = _place(interest)
        bucket = self._buckets.get(place, {})
        if subscription not in bucket:
            return
        del bucket[subscription]
        if not bucket:
            del self._buckets[place]
        if interest.pinned:
            self._pinned -= Counter([interest.pinned[0]])

    def deliver(self, change: Change) -> None:
        if not self._buckets:
            return
        telling = Telling(change)
        overrun: list[Subscription] = []
        for place in self._places(change):
            for subscription in self._buckets.get(place, ()):
                interest = subscription.interest
                event = telling.to(interest) if interest.selective else telling.plain
                if event is not None and not subscription.offer(event):
                    overrun.append(subscription)
        for subscription in overrun:
            self.discard(subscription)

    def end(self, ending: Ending) -> None:
        """Ends every watch."""
        buckets, self._buckets = self._buckets, {}
        self._pinned.clear()
        for bucket in buckets.values():
            for subscription in bucket:
                subscription.end(ending)

    def _places(self, change: Change) -> Iterator[Place]:
        record, old = change.record, change.old
        yield _ANYWHERE
        yield (record.namespace,)
        yield (record.namespace, record.name)
        yield (None, record.name)
        for field in self._pinned:
            now = record.field(field)
            yield (None, field, now)
            if old is not None and (before := old.field(field)) != now:
                yield (None, field, before)


def _place(interest: Interest) -> Place:
    """Places differ in length by what they go by, so that no two kinds of them meet."""
    if interest.name is not None:
        return (interest.namespace, interest.name)
    if interest.pinned is not None:
        return (None, *interest.pinned)
    if interest.namespace is not None:
        return (interest.namespace,)
    return _ANYWHERE
