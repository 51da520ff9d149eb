# SPDX-License-Identifier: Apache-2.0
"""How many pods there are: one for each index, and never more than were wanted of late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.chronicle import Place, controller_uid, is_leaving, label
from tests.sim.watching.finding import Finding
from trellis.api.labels import POD_INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit

# Longer than anybody is deaf: who decides on what was true before that was told better since.
_QUIESCENT_SECONDS = 60.0


@dataclass(slots=True)
class _Clique:
    """The most pods that were wanted since it last had just as many for a while."""

    peak: int
    even_since: float | None = None


class Replicas:
    """I-04 unique child, I-05 no surge; for `patience` seconds what is wrong may be mended."""

    def __init__(self, chronicle: Chronicle, patience: float = 0.0) -> None:
        self._chronicle = chronicle
        self._patience = patience
        self._cliques: dict[str, _Clique] = {}
        self._suspects: dict[Place, float] = {}

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural == "podcliques":
            self._count(commit.uid, commit.at)
        elif commit.place.plural == "pods":
            owner = controller_uid(commit.body)
            if commit.old is None and commit.new is not None and commit.caller.is_operator:
                if self._patience:
                    self._suspects[commit.place] = commit.at + self._patience
                else:
                    yield from self._judged(commit.place, commit.new, owner)
            self._count(owner, commit.at)
        # Last, so that who is due is not held to account for what has only just been made.
        yield from self._due(commit.at)

    def _due(self, now: float) -> Iterator[Finding]:
        for place, due in list(self._suspects.items()):
            pod = self._chronicle.objects["pods"].get(place)
            if pod is None or not _is_live(pod) or now >= due:
                del self._suspects[place]
                if pod is not None and _is_live(pod):
                    yield from self._judged(place, pod, controller_uid(pod))

    def _judged(self, place: Place, pod: Body, owner: str) -> Iterator[Finding]:
        # What may still be mended is not held against anybody.
        live = [one for one in self._live(owner) if _place(one) not in self._suspects]
        index = label(pod, POD_INDEX)
        twins = [one["metadata"]["name"] for one in live if label(one, POD_INDEX) == index]
        if len(twins) > 1:
            yield Finding("I-04", f"index {index} has {len(twins)} live pods: {sorted(twins)}")
        known = self._cliques.get(owner)
        clique = self._chronicle.by_uid(owner)
        most = max(known.peak if known else 0, clique["spec"]["replicas"] if clique else 0)
        if len(live) > most:
            yield Finding("I-05", f"{place} is pod {len(live)} of at most {most}")

    def _count(self, uid: str, now: float) -> None:
        clique = self._chronicle.by_uid(uid)
        if clique is None or self._chronicle.uids[uid].plural != "podcliques":
            return
        wanted = clique["spec"]["replicas"]
        known = self._cliques.setdefault(uid, _Clique(wanted))
        known.peak = max(known.peak, wanted)
        if len(self._live(uid)) != wanted:
            known.even_since = None
        elif known.even_since is None:
            known.even_since = now
        elif now - known.even_since > _QUIESCENT_SECONDS:
            known.peak = wanted

    def _live(self, uid: str) -> list[Body]:
        pods = self._chronicle.objects["pods"]
        places = [one for one in self._chronicle.dependents.get(uid, ()) if one.plural == "pods"]
        return [pods[place] for place in places if _is_live(pods[place])]


def _place(pod: Body) -> Place:
    return Place("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])


def _is_live(pod: Body) -> bool:
    return not is_leaving(pod) and pod["status"].get("phase") not in ("Failed", "Succeeded")
