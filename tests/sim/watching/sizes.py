# SPDX-License-Identifier: Apache-2.0
"""Whose a size is: that of what is there belongs to autoscalers and people, never to the operator.

Grove GR-565: what was scaled at run time is set back to the template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Commit

_SCALED = ("podcliquesets", "podcliquescalinggroups", "podcliques")


class Sizes:
    """I-05 of what others scale."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        old, new = commit.old, commit.new
        if commit.place.plural not in _SCALED or not commit.caller.is_operator:
            return
        if old is None or new is None:
            return
        was, now = old["spec"].get("replicas"), new["spec"].get("replicas")
        if was != now:
            yield Finding("I-05", f"{commit.place} was scaled from {was} to {now} by the operator")
