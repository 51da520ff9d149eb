# SPDX-License-Identifier: Apache-2.0
"""Whether the pods that others take the place of are gone, or may only be out of our sight.

A ledger that moved on to the next name may be all that a process finds when it starts, while the
pod of the name before has lost the label that it is read by and lives. What this process has seen
leave is gone; of what it never saw, the server knows more.

Which name came before follows from the uid of the PodClique, unless a PodClique of the same name
was there before it, or another operator, or the ledger was lost: then one must have seen it change,
or ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.workloads.ledger import all_listed_names, by_index, name_before
from trellis.workloads.podclique.currency import version
from trellis.workloads.podclique.desired import Birth
from trellis.workloads.pods import is_live
from trellis.workloads.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.api.core.pod import Pod
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches
    from trellis.workloads.podclique.state import State

_MOST = 4096


@dataclass(frozen=True, slots=True)
class Unseen:
    """`before`: pods that came before others, of which nobody here can tell whether they are gone.

    `untold`: those of which nobody can tell after whom they come.
    """

    before: tuple[Birth, ...]
    untold: tuple[Birth, ...]

    def __bool__(self) -> bool:
        return bool(self.before or self.untold)


class Ancestry:
    """Names are remembered with the uid of the PodClique that they were made for."""

    def __init__(self, caches: Caches) -> None:
        self._pods = caches.pods
        self._gone: Recent[tuple[str, str], None] = Recent(_MOST)
        self._asked: Recent[tuple[str, str], None] = Recent(_MOST)
        self._before: Recent[Key, str] = Recent(_MOST)
        caches.pods.subscribe(self._changed)
        caches.gangs.subscribe(self._moved_on)

    def unseen(self, state: State, births: Iterable[Birth]) -> Unseen:
        uid, present = state.clique.metadata.uid, {pod.metadata.name for pod in state.pods}
        before: list[Birth] = []
        untold: list[Birth] = []
        for birth in births:
            known = self._seen_before(state.clique.metadata.namespace, birth.name)
            first = name_before(uid, state.name, birth.index, birth.name) if not known else None
            # A ledger that was lost begins anew: its first name may come after others.
            doubtful = first is None or (not first and _has_had_pods(state))
            if not known and doubtful and (uid, birth.name) not in self._asked:
                untold.append(birth)
            for name in known or filter(None, (first,)):
                if name in present or (uid, name) in self._gone:
                    # Before it was made, somebody saw to those before it.
                    break
                before.append(Birth(index=birth.index, name=name))
        return Unseen(tuple(before), tuple(untold))

    def are_gone(self, uid: str, unseen: Unseen) -> None:
        """The server has none of them, and nothing that may come before those untold of."""
        for birth in unseen.before:
            self._gone.note((uid, birth.name), None)
        for birth in unseen.untold:
            self._asked.note((uid, birth.name), None)

    def _seen_before(self, namespace: str, name: str) -> list[str]:
        """The names that the ledger had for its index before, as far as we saw it, latest first."""
        found: list[str] = []
        while (name := self._before.get(Key(namespace, name)) or "") and name not in found:
            found.append(name)
        return found

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        controller = old.metadata.controller if old is not None else None
        # What was neither leaving nor done for may only have lost the label that it is read by.
        if old is not None and new is None and controller is not None and not is_live(old):
            self._gone.note((controller.uid, old.metadata.name), None)

    def _moved_on(self, old: PodGang | None, new: PodGang | None, *, fresh: bool) -> None:
        del fresh
        if old is None or new is None or version(old.metadata) == version(new.metadata):
            return
        namespace, names = new.metadata.namespace, all_listed_names(new)
        for clique, before in all_listed_names(old).items():
            after = names.get(clique, ())
            if before == after:
                continue
            was, now = (self._by_index(namespace, clique, each) for each in (before, after))
            for index, name in now.items():
                if was.get(index, name) != name:
                    self._before.note(Key(namespace, name), was[index])

    def _by_index(self, namespace: str, clique: str, listed: Sequence[str]) -> dict[int, str]:
        found = ((name, self._pods.get(Key(namespace, name))) for name in listed)
        return dict(by_index(clique, listed, {name: pod for name, pod in found if pod is not None}))


def _has_had_pods(state: State) -> bool:
    """Whether it may have: it was told of before."""
    return state.clique.status.observed_generation is not None
