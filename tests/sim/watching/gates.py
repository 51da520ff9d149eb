# SPDX-License-Identifier: Apache-2.0
"""The gate: a gang starts together, and a scaled gang after its base gang.

Held against everything that ever was, not against what is: what a decision rested on may be gone
by the time that it is carried out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.sim.chronicle import label
from tests.sim.watching.finding import Finding
from trellis.api.annotation import PLACEMENT
from trellis.api.labels import BASE_POD_GANG, GANG_GATE, POD_CLIQUE, POD_GANG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit


class Gates:
    """I-08, as far as it is the operator's: binding is the scheduler's."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle
        self._made: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._bound: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural != "pods" or commit.new is None:
            return
        pod, namespace = commit.new, commit.place.namespace
        clique = (namespace, label(pod, POD_CLIQUE))
        self._made[clique][commit.place.name] = None
        if pod["spec"].get("nodeName"):
            self._bound[clique][commit.place.name] = None
        if not commit.caller.is_operator or _is_gated(pod):
            return
        gang = self._chronicle.get("podgangs", namespace, label(pod, POD_GANG))
        if commit.old is None:
            yield from _born_free(commit, gang)
        elif _is_gated(commit.old) and gang is not None:
            yield from self._lifted(commit, gang)

    def _lifted(self, commit: Commit, gang: Body) -> Iterator[Finding]:
        namespace = commit.place.namespace
        for name in _short(namespace, gang, self._made):
            yield Finding("I-08", f"{commit.place} was let go before the pods of {name} were made")
        base = label(commit.body, BASE_POD_GANG)
        if not base:
            return
        first = self._chronicle.get("podgangs", namespace, base)
        for name in _short(namespace, first, self._bound) if first is not None else ():
            yield Finding("I-08", f"{commit.place} was let go before {name} of {base} had nodes")


def _short(
    namespace: str, gang: Body, pods: dict[tuple[str, str], dict[str, None]]
) -> Iterator[str]:
    """The groups of a gang of which there never were as many pods as it needs."""
    for group in gang["spec"].get("podgroups", ()):
        if len(pods.get((namespace, group["name"]), ())) < group["minReplicas"]:
            yield group["name"]


def _born_free(commit: Commit, gang: Body | None) -> Iterator[Finding]:
    annotations = gang["metadata"].get("annotations", {}) if gang else {}
    if PLACEMENT not in annotations:
        yield Finding("I-08", f"{commit.place} was made without a gate, and nobody placed it")


def _is_gated(pod: Body) -> bool:
    return any(one["name"] == GANG_GATE for one in pod["spec"].get("schedulingGates") or ())
