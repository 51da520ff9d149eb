# SPDX-License-Identifier: Apache-2.0
"""On which terms PodCliques get a new template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set
from trellis.api.annotation import APPLIED, PRIORITY_CLASS, READY_BEFORE, RELEASED
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members import (
    Terms,
    carries,
    clique,
    compare_clique,
    is_behind,
    is_released,
    ready_before,
)
from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

NEWER: dict[str, Any] = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}
HELD = Terms(held=True)


def an_outline(pods: dict[str, Any] = POD_SPEC, **more: Any) -> Outline:
    labels = more.pop("labels", {})
    return Outline(a_set("llm", a_clique("w", 2, podSpec=pods, labels=labels), **more))


def wanted(outline: Outline, live: PodClique | None, terms: Terms = Terms()) -> PodClique:  # noqa: B008
    return clique(outline, outline.alone(0)[0], outline.set, live, terms)


def a_live(outline: Outline, **more: Any) -> PodClique:
    return stored(wanted(outline, None), **more)


def test_what_is_held_keeps_all_that_its_pods_are_made_from() -> None:
    before = an_outline(labels={"tier": "gold", "old": "yes"})
    live = a_live(before)
    after = an_outline(NEWER, labels={"tier": "silver", "new": "yes"}, priorityClassName="high")
    held = wanted(after, live, HELD)
    assert held.spec.pod_spec == live.spec.pod_spec
    assert held.metadata.labels == live.metadata.labels
    assert held.metadata.annotations == live.metadata.annotations
    assert compare_clique(live, held) == {}
    assert PRIORITY_CLASS not in held.metadata.annotations


def test_it_is_known_to_be_behind_and_gets_everything_when_its_turn_comes() -> None:
    live = a_live(an_outline(labels={"old": "yes"}), status={"readyReplicas": 2})
    after = an_outline(NEWER)
    new = wanted(after, live)
    assert new.metadata.annotations[APPLIED] != live.metadata.annotations[APPLIED]
    patch = compare_clique(live, new)
    assert patch["metadata"]["labels"]["old"] is None
    assert patch["metadata"]["annotations"][READY_BEFORE] == "2"
    assert patch["spec"]["podSpec"] == NEWER


def test_what_is_not_there_is_made_new_on_any_terms() -> None:
    after = an_outline(NEWER)
    assert wanted(after, None, HELD) == wanted(after, None)


def test_what_has_the_template_already_is_never_held() -> None:
    outline = an_outline()
    live = a_live(outline, annotations={APPLIED: "another"})
    held = wanted(outline, live, HELD)
    assert held.metadata.annotations[APPLIED] != "another"
    assert READY_BEFORE not in held.metadata.annotations


@pytest.mark.parametrize(
    ("noted", "ready", "under_way", "unfinished", "expected"),
    [
        (None, 2, False, False, "2"),
        ("2", 1, False, False, "1"),
        ("2", 1, True, False, "2"),
        ("2", 1, False, True, "2"),
        ("1", 2, True, False, "2"),
        ("nonsense", 1, True, False, "1"),
    ],
)
def test_how_many_were_ready_is_noted_with_the_template(
    noted: str | None, ready: int, under_way: bool, unfinished: bool, expected: str
) -> None:
    progress = {
        "updateStartedAt": "2026-01-01T00:00:00Z",
        "podCliqueSetGenerationHash": "g",
        "podTemplateHash": "h",
    }
    status = {"readyReplicas": ready} | ({"updateProgress": progress} if under_way else {})
    annotations = {READY_BEFORE: noted} if noted is not None else {}
    live = a_live(an_outline(), status=status, annotations=annotations)
    new = wanted(an_outline(NEWER), live, Terms(unfinished=unfinished))
    assert new.metadata.annotations[READY_BEFORE] == expected
    assert ready_before(new) == int(expected)


def test_a_release_is_noted_also_where_nothing_is_new() -> None:
    outline = an_outline()
    live = a_live(outline, status={"readyReplicas": 2})
    new = wanted(outline, live, Terms(release="mark"))
    assert is_released(new, "mark")
    assert ready_before(new) == 2
    again = stored(new, status={"readyReplicas": 0})
    assert ready_before(wanted(outline, again, Terms(release="mark"))) == 2
    assert wanted(outline, again).metadata.annotations[RELEASED] == "mark"


def test_what_is_noted_is_no_part_of_what_was_applied() -> None:
    outline = an_outline()
    live = a_live(outline)
    released = wanted(outline, live, Terms(release="mark"))
    assert released.metadata.annotations[APPLIED] == live.metadata.annotations[APPLIED]


def test_the_class_of_the_set_is_noted_and_goes_with_it() -> None:
    live = a_live(an_outline(priorityClassName="gold"))
    assert live.metadata.annotations[PRIORITY_CLASS] == "gold"
    patch = compare_clique(live, wanted(an_outline(), live))
    assert patch["metadata"]["annotations"][PRIORITY_CLASS] is None


def test_an_amount_that_a_server_wrote_in_its_own_way_is_no_difference() -> None:
    def asking(amount: str) -> dict[str, Any]:
        asked = {"requests": {"cpu": amount}}
        return {"containers": [{"name": "main", "image": "x", "resources": asked}]}

    outline = an_outline(asking("1000m"))
    live = a_live(an_outline(asking("1")))
    member = outline.alone(0)[0]
    assert carries(live, member.template, outline.template_hashes["w"])
    assert compare_clique(live, wanted(outline, live)) == {}


@pytest.mark.parametrize(
    ("status", "behind"),
    [
        ({}, False),
        ({"observedGeneration": 1}, False),
        ({"observedGeneration": 1, "currentPodTemplateHash": "v1-older"}, True),
        ({"currentPodTemplateHash": "v1-older"}, False),
        ({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1}, True),
        ({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2}, False),
    ],
    ids=["said nothing", "new", "of another template", "never looked at", "some", "none"],
)
def test_whether_it_says_that_all_its_pods_are_new(status: dict[str, Any], behind: bool) -> None:
    assert is_behind(a_live(an_outline(), status=status)) is behind


def test_a_status_about_an_update_is_about_its_template_alone() -> None:
    outline = an_outline()
    own = outline.template_hashes["w"]
    progress = {
        "updateStartedAt": "2026-01-01T00:00:00Z",
        "podCliqueSetGenerationHash": "g",
        "podTemplateHash": "v1-between",
    }
    status = {"observedGeneration": 1, "currentPodTemplateHash": own, "updateProgress": progress}
    live = a_live(outline, status=status)
    assert live.metadata.labels[POD_TEMPLATE_HASH] == own
    # It was on its way to another one, and that was taken back.
    assert is_behind(live)


def test_what_was_seen_of_pods_counts_before_what_a_status_says() -> None:
    live = a_live(an_outline(), status={"readyReplicas": 1})
    new = wanted(an_outline(NEWER), live, Terms(ready={live.metadata.name: 2, "another": 7}))
    assert ready_before(new) == 2


def test_by_hand_nobody_notes_how_many_were_ready() -> None:
    live = a_live(an_outline(), status={"readyReplicas": 2}, annotations={READY_BEFORE: "1"})
    new = wanted(an_outline(NEWER), live, Terms(by_hand=True))
    assert READY_BEFORE not in new.metadata.annotations
    assert compare_clique(live, new)["metadata"]["annotations"][READY_BEFORE] is None


@pytest.mark.parametrize(
    ("terms", "noted"),
    [
        pytest.param(Terms(), "2", id="its turn has come"),
        pytest.param(Terms(held=True), None, id="before its turn"),
        pytest.param(Terms(by_hand=True), None, id="by hand"),
    ],
)
def test_what_got_its_template_by_hand_is_counted_when_it_is_rolled(
    terms: Terms, noted: str | None
) -> None:
    outline = an_outline()
    behind = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 1, "readyReplicas": 2}
    live = a_live(outline, status=behind)
    assert wanted(outline, live, terms).metadata.annotations.get(READY_BEFORE) == noted


def test_what_this_update_has_released_before_is_still_to_come_back() -> None:
    outline = an_outline()
    before = {READY_BEFORE: "2", RELEASED: "older 2026-01-01T00:00:00Z"}
    live = a_live(outline, status={"readyReplicas": 0}, annotations=before)
    again = wanted(outline, live, Terms(release="newer 2026-01-01T00:00:00Z"))
    assert ready_before(again) == 2
    later = wanted(outline, live, Terms(release="newer 2026-02-02T00:00:00Z"))
    assert ready_before(later) == 0
