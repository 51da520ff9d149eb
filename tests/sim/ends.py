# SPDX-License-Identifier: Apache-2.0
"""How a story ended, without all that may differ between two that ended alike: D-01.

Left out: uids, versions, times, the last part of pods' names, nodes, and which indices are left of
a clique that was scaled in, for that hangs on which of its pods were ready by then.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from tests.sim.chronicle import image, is_leaving, label
from trellis.api.annotation import READY_BEFORE, RECYCLED, RELEASED
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.labels import POD_CLIQUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle

End = dict[str, Any]

_KINDS = (
    "podcliquesets",
    "podcliquescalinggroups",
    "podcliques",
    "podgangs",
    "services",
    "horizontalpodautoscalers",
    "roles",
    "rolebindings",
    "resourceclaims",
)
_VOLATILE = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "observedGeneration",
        "managedFields",
        "creationTimestamp",
        "lastTransitionTime",
        "lastUpdateTime",
        "firstAvailableTime",
        "clusterIP",
        "clusterIPs",
        "podReferences",
        "message",
        "lastErrors",
        "updateStartedAt",
        "updateEndedAt",
        RECYCLED,
    }
)
# In a story of updates, whether something was changed before it was up, or after: then it was
# updated.
_OF_UPDATES = frozenset({READY_BEFORE, RELEASED, "updateProgress", "rollingUpdateProgress"})


def end_of(chronicle: Chronicle, *, updated: bool = False) -> End:
    """`updated`: templates change in the story."""
    dropped = _VOLATILE | _OF_UPDATES if updated else _VOLATILE
    end: End = {}
    for plural in _KINDS:
        for found in chronicle.of(plural):
            metadata = found["metadata"]
            end[f"{plural} {metadata['namespace']}/{metadata['name']}"] = _lasting(found, dropped)
    pods = Counter(_pod(pod, updated=updated) for pod in chronicle.of("pods"))
    end["pods"] = dict(sorted(pods.items()))
    return end


def differences(one: End, other: End) -> Iterator[str]:
    """Where two ends differ, in words."""
    for name in sorted({*one, *other}):
        if one.get(name) != other.get(name):
            yield from _differing(name, one.get(name), other.get(name))


def _differing(path: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}, key=str):
            if one.get(name) != other.get(name):
                yield from _differing(f"{path}.{name}", one.get(name), other.get(name))
    else:
        yield f"{path}: {_shown(one)} without faults, {_shown(other)} with"


def _lasting(value: Any, dropped: frozenset[str]) -> Any:
    if isinstance(value, dict):
        lasting = {n: _lasting(one, dropped) for n, one in value.items() if n not in dropped}
        if "conditions" in lasting:
            # Who came first is no difference.
            untold = UPDATE_IN_PROGRESS if dropped >= _OF_UPDATES else ""
            told = [one for one in lasting["conditions"] if one["type"] != untold]
            lasting["conditions"] = sorted(told, key=lambda one: one["type"])
        return {name: one for name, one in lasting.items() if one not in ({}, None)}
    if isinstance(value, list):
        return [_lasting(one, dropped) for one in value]
    return value


def _pod(pod: Body, *, updated: bool) -> str:
    state = "leaving" if is_leaving(pod) else pod["status"].get("phase", "")
    namespace = pod["metadata"]["namespace"]
    made_from = f" {image(pod['spec']).rpartition(':')[2]}" if updated else ""
    return f"{namespace}/{label(pod, POD_CLIQUE)} {state}{made_from}"


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()[:200]
