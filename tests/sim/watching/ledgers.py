# SPDX-License-Identifier: Apache-2.0
"""The ledger: nothing is made that was not written down before, and no index has two names."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from tests.sim.chronicle import label
from tests.sim.watching.finding import Finding
from trellis.api.annotation import POD_LEDGER
from trellis.api.labels import POD_GANG, SCHEDULER_NAME
from trellis.workloads.kai import KAI

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.sim.chronicle import Body, Commit

_INDEX = re.compile(r".+-([0-9]+)-[a-z0-9]{5}", re.ASCII)


class Ledgers:
    """D-15."""

    def __init__(self) -> None:
        self._listed: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def see(self, commit: Commit) -> Iterator[Finding]:
        namespace = commit.place.namespace
        if commit.place.plural == "podgangs" and commit.new is not None:
            for clique, names in ledger(commit.new).items():
                self._listed[namespace, commit.place.name].update(dict.fromkeys(names))
                if commit.caller.is_operator:
                    yield from _indexed(commit, clique, names)
        made = commit.old is None and commit.new is not None and commit.caller.is_operator
        if made and commit.place.plural == "pods":
            gang = label(commit.body, POD_GANG)
            if commit.place.name not in self._listed.get((namespace, gang), {}):
                yield Finding("D-15", f"{commit.place} was made, and PodGang {gang} never had it")


def ledger(gang: Body) -> dict[str, list[str]]:
    """By clique, the names that a PodGang lists: one for KAI in an annotation."""
    text = gang["metadata"].get("annotations", {}).get(POD_LEDGER)
    if text and label(gang, SCHEDULER_NAME) == KAI:
        return msgspec.json.decode(text, type=dict[str, list[str]])
    groups = gang["spec"].get("podgroups", ())
    return {
        group["name"]: [one["name"] for one in group.get("podReferences", ())] for group in groups
    }


def by_index(names: Iterable[str]) -> dict[str, str]:
    """The names of pods, by the index that they are of."""
    matches = (_INDEX.fullmatch(name) for name in names)
    return {match[1]: match[0] for match in matches if match}


def _indexed(commit: Commit, clique: str, names: list[str]) -> Iterator[Finding]:
    if len(by_index(names)) != sum(1 for name in names if _INDEX.fullmatch(name)):
        yield Finding("D-15", f"{commit.place} lists an index of {clique} twice: {names}")
