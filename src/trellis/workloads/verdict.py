# SPDX-License-Identifier: Apache-2.0
"""The verdict of placement on a gang: that its pods must wait, or on which nodes they go. Pure.

It is an annotation of the PodGang, which `placement` alone writes. What cannot be read is no
verdict: pods are then gated, as where there is no placement at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from trellis.api.annotation import PLACEMENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.api.scheduler.podgang import PodGang

WAIT = "wait"

_NODES = msgspec.json.Decoder(dict[str, list[tuple[str, int]]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`given`: placement has spoken. `waits`: no pod may be made. `nodes`: by PodClique."""

    given: bool = False
    waits: bool = False
    nodes: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    def pins(self, clique: str, indices: Sequence[int]) -> Mapping[int, str]:
        """The node of each index of a PodClique, as far as the verdict reaches."""
        # One at a time: a verdict may say any numbers, and is read no further than there are pods.
        slots = (node for node, count in self.nodes.get(clique, ()) for _ in range(count))
        return dict(zip(sorted(indices), slots, strict=False))


NONE = Verdict()


def verdict(gang: PodGang) -> Verdict:
    text = gang.metadata.annotations.get(PLACEMENT, "")
    if not text:
        return NONE
    if text == WAIT:
        return Verdict(given=True, waits=True)
    try:
        return Verdict(given=True, nodes=_NODES.decode(text))
    except msgspec.MsgspecError:
        return NONE
