# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set
from trellis.workloads.outline import Outline
from trellis.workloads.updates import release


def mark(**labels: str) -> str:
    """The mark of a group of b and c, of a set in which cliques have such labels."""

    def clique(name: str, **more: Any) -> dict[str, Any]:
        return a_clique(name, labels={"v": labels.get(name, "1")}, podSpec=POD_SPEC, **more)

    group = a_group("sg", "b", "c")
    outline = Outline(a_set("llm", clique("a"), clique("b"), clique("c"), groups=(group,)))
    return release(outline, outline.groups["sg"])


def test_a_mark_is_about_all_members_and_nobody_else() -> None:
    assert mark() == mark(a="2")
    assert len({mark(), mark(b="2"), mark(c="2"), mark(b="2", c="2")}) == 4
