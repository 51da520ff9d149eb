# SPDX-License-Identifier: Apache-2.0
"""Listed names that belong to pods of others: one lost its owner, or was there before.

Such a pod is nobody's business here and is never touched; its index gets another name, as any other
pod gets one that is lost. A cache may be behind, and a pod may be out of its sight: the server is
asked before a name is given up.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from trellis.api.conditions import STALLED, Status, find
from trellis.api.meta import Key
from trellis.api.reasons import objects
from trellis.workloads.pods import is_controlled_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO
    from trellis.workloads.podgang.state import State

# So many are asked about at once; the others when these have other names.
_MOST_ASKED = 256


def doubtful(
    clique: PodClique, listed_names: Iterable[str], pods: Mapping[str, Pod]
) -> frozenset[str]:
    """Listed names whose pods are not that PodClique's, as far as we see.

    What is not in sight at all is in doubt once its controller could not make it.
    """
    conflict = bool(told_of_conflict(clique))
    return frozenset(
        name
        for name in listed_names
        if (_is_of_another(pod, clique) if (pod := pods.get(name)) is not None else conflict)
    )


async def confirmed(io: IO, pods: Cache[Pod], state: State) -> State:
    """The same with the names that are taken. Nearly always there is nothing to ask."""
    if not any(part.doubtful for part in state.parts):
        return state
    namespace = state.key.namespace
    doubts = (Key(namespace, name) for part in state.parts for name in sorted(part.doubtful))
    found = {
        pod.metadata.name: pod for pod in await io.read(pods, list(islice(doubts, _MOST_ASKED)))
    }
    parts = tuple(
        replace(
            part,
            taken=frozenset(
                name
                for name in part.doubtful
                if (pod := found.get(name)) is not None and _is_of_another(pod, part.clique)
            ),
        )
        for part in state.parts
    )
    return replace(state, parts=parts)


def told_of_conflict(clique: PodClique) -> str:
    """What it says of a name that it could not use, if it does."""
    stalled = find(clique.status.conditions, STALLED)
    if stalled is None or stalled.status != Status.TRUE.value:
        return ""
    return stalled.message if stalled.reason == objects.NAME_CONFLICT.token else ""


def _is_of_another(pod: Pod, clique: PodClique) -> bool:
    """What is of a PodClique that was there before goes with that one, and holds its name until
    then."""
    if is_controlled_by(pod, clique.metadata.uid):
        return False
    by = pod.metadata.controller
    return by is None or (by.kind, by.name) != (clique.resource.kind, clique.metadata.name)
