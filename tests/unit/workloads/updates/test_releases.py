# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from msgspec import structs

from tests.support.virtual import START
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.api.grove.updates import SetProgress
from trellis.workloads.outline import Outline
from trellis.workloads.updates import release


def mark(began: Any = None, **labels: str) -> str:
    """The mark of a group of b and c, of a set in which cliques have such labels."""

    def clique(name: str, **more: Any) -> dict[str, Any]:
        return a_clique(name, labels={"v": labels.get(name, "1")}, podSpec=POD_SPEC, **more)

    group = a_group("sg", "b", "c")
    owner = a_set("llm", clique("a"), clique("b"), clique("c"), groups=(group,))
    outline = Outline(owner)
    status = PodCliqueSetStatus(update_progress=SetProgress(update_started_at=began))
    return release(structs.replace(owner, status=status), outline, outline.groups["sg"])


def test_a_mark_is_about_all_members_and_nobody_else() -> None:
    assert mark() == mark(a="2")
    assert len({mark(), mark(b="2"), mark(c="2"), mark(b="2", c="2")}) == 4


def test_a_mark_of_an_earlier_update_to_the_same_templates_is_another() -> None:
    assert mark(START) == mark(START)
    assert len({mark(), mark(START), mark(START.replace(year=2030))}) == 3
