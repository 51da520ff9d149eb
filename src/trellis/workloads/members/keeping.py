# SPDX-License-Identifier: Apache-2.0
"""What a PodClique keeps of the template that it was made from, while others are updated. Pure.

All that its pods are made from stays, and so does the mark of what was applied: it is known to be
behind. What is not about pods follows the set at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.annotation import (
    APPLIED,
    FROM_TEMPLATE,
    HASH_ALIASES,
    PRIORITY_CLASS,
    READY_BEFORE,
    RELEASED,
)
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members.comparing import recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.grove.podclique import PodClique

_ABOUT_ITS_PODS = (
    APPLIED,
    FROM_TEMPLATE,
    HASH_ALIASES,
    PRIORITY_CLASS,
    READY_BEFORE,
    RELEASED,
)


def kept(new: PodClique, live: PodClique) -> PodClique:
    """`new` is what is to be written where nothing is kept."""
    was, now = recorded(live.metadata), recorded(new.metadata)
    marks = (*_ABOUT_ITS_PODS, *was.get("annotations", ()), *now.get("annotations", ()))
    names = (POD_TEMPLATE_HASH, *was.get("labels", ()), *now.get("labels", ()))
    metadata = structs.replace(
        new.metadata,
        labels=_as_before(new.metadata.labels, live.metadata.labels, names),
        annotations=_as_before(new.metadata.annotations, live.metadata.annotations, marks),
    )
    spec = structs.replace(new.spec, pod_spec=live.spec.pod_spec)
    return structs.replace(new, metadata=metadata, spec=spec)


def _as_before(
    new: Mapping[str, str], live: Mapping[str, str], keys: Iterable[str]
) -> dict[str, str]:
    """The new ones, but for those keys, which are as they are in the live one, or not at all."""
    kept_keys = frozenset(keys)
    changed = {key: value for key, value in new.items() if key not in kept_keys}
    return changed | {key: value for key, value in live.items() if key in kept_keys}
