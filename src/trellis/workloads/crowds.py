# SPDX-License-Identifier: Apache-2.0
"""To which set a key belongs, so that the thousand parts of one hold up no others. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.workloads.caches import BY_GANG
from trellis.workloads.streams import set_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.meta import Key
    from trellis.runtime.cache import Cache
    from trellis.workloads.caches import Caches


def by_set(cache: Cache[Any]) -> Callable[[Key], Key]:
    """For keys of what is in that cache. One that is gone belongs to nobody else."""

    def crowd(key: Key) -> Key:
        found = cache.get(key)
        return key if found is None else set_of(found)

    return crowd


def by_set_of_members(caches: Caches) -> Callable[[Key], Key]:
    """For keys of gangs, which are there before their gangs are."""

    def crowd(key: Key) -> Key:
        members = caches.cliques.find(BY_GANG, str(key))
        return set_of(members[0]) if members else key

    return crowd
