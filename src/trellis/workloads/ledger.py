# SPDX-License-Identifier: Apache-2.0
"""The ledger: which name the pod of each index has now, as a PodGang holds it. Pure.

Only listed names are ever made, and any other pod of ours is surplus. The gang controller alone
writes it, in one guarded write a gang; everybody else only reads it, here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from trellis.api import names
from trellis.api.annotation import POD_LEDGER
from trellis.api.labels import POD_INDEX, SHORT_SET_NAME, as_index, number
from trellis.workloads.kai import is_for_kai

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.api.core.pod import Pod
    from trellis.api.scheduler.podgang import PodGang

Listed: TypeAlias = Mapping[int, str]
"""The name of the pod of each index."""

# How far back a name is followed: each takes as long as a hash does.
_MOST_STEPS = 64
_NAMES = msgspec.json.Decoder(dict[str, list[str]])


def listed(gang: PodGang, clique: str, pods: Iterable[Pod]) -> Listed:
    """What the ledger says of that PodClique. `pods` are its own, for names that others made."""
    known = {pod.metadata.name: pod for pod in pods}
    noted = _noted(gang)
    if noted is not None:
        return by_index(clique, noted.get(clique, ()), known)
    groups = (group for group in gang.spec.podgroups if group.name == clique)
    return by_index(clique, (one.name for group in groups for one in group.pod_references), known)


def all_listed_names(gang: PodGang) -> Mapping[str, Sequence[str]]:
    """The names that are listed, by the PodClique they are listed for."""
    noted = _noted(gang)
    if noted is not None:
        return noted
    return {
        group.name: [reference.name for reference in group.pod_references]
        for group in gang.spec.podgroups
    }


def by_index(clique: str, listed_names: Iterable[str], known: Mapping[str, Pod]) -> Listed:
    """Listed names of that PodClique by their index. `known` are pods by name."""
    found: dict[int, str] = {}
    for name in listed_names:
        pod = known.get(name)
        index = _index_named(clique, name) if pod is None else pod_index(pod)
        if index is not None:
            found.setdefault(index, name)
    return dict(sorted(found.items()))


def next_name(uid: str, clique: str, index: int, previous: str = "") -> str:
    """The name after that one at an index of a PodClique, or the first: the same for everybody."""
    return names.pod(clique, index, names.pod_suffix(uid, str(index), previous))


def name_before(uid: str, clique: str, index: int, name: str) -> str | None:
    """The name that was replaced by that one. Empty: it is the first. None: nobody can tell."""
    before = ""
    for _ in range(_MOST_STEPS):
        after = next_name(uid, clique, index, before)
        if after == name:
            return before
        before = after
    return None


def pod_index(pod: Pod) -> int | None:
    """The index of a pod that exists, by its label, or by its host name where that says none.

    None: somebody tampered with it.
    """
    index = number(pod.metadata.labels, POD_INDEX)
    return _index_hosted(pod) if index is None else index


def is_ours(gang: PodGang) -> bool:
    """Whether its list is a ledger. Another operator lists pods when it has made them, one by one:
    what is not on its list yet would be taken for surplus. It leaves this label off."""
    return SHORT_SET_NAME in gang.metadata.labels


def _index_named(clique: str, name: str) -> int | None:
    """The index in a name that we decided on. What others named may only look like it:
    `llm-0-worker-1-x2zb9` is some pod of the clique `worker-1`, and none of index 1."""
    index, suffix = names.pod_index_of(name), name[-names.POD_SUFFIX_LENGTH :]
    return index if index is not None and names.pod(clique, index, suffix) == name else None


def _index_hosted(pod: Pod) -> int | None:
    """Pods of older releases of Grove have no such label, but their host names are like ours."""
    hostname, owner = pod.spec.hostname, pod.metadata.controller
    index = as_index(hostname.rpartition("-")[2])
    if owner is None or index is None or names.hostname(owner.name, index) != hostname:
        return None
    return index


def _noted(gang: PodGang) -> Mapping[str, Sequence[str]] | None:
    """What the annotation says: for KAI, which must not see pods that are yet to be made.

    On the gang of another scheduler it is left over, or somebody's: it says nothing there.
    """
    text = gang.metadata.annotations.get(POD_LEDGER) if is_for_kai(gang) else None
    if not text:
        return None
    try:
        return _NAMES.decode(text)
    except msgspec.MsgspecError:
        # Somebody wrote into it: what exists is still known by the references.
        return None
