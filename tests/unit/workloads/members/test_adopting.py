# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.unit.workloads.members.builders import patched, stored
from tests.unit.workloads.sets import a_clique, a_set
from trellis.api.annotation import HASH_ALIASES
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members import clique, compare_clique, current_hashes
from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

Json = dict[str, Any]

GROVES = "5d4b9c7f8"
POD_SPEC: Json = {
    "containers": [{"name": "main", "image": "app:1", "env": [{"name": "MODE", "value": ""}]}],
    "hostNetwork": False,
}
# The same as Grove's types write it, with what Grove adds to it for members of groups.
AS_GROVE_STORES_IT: Json = {
    "containers": [
        {
            "name": "main",
            "image": "app:1",
            "env": [
                {"name": "GROVE_PCSG_NAME", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
                {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "4"},
                {"name": "MODE"},
            ],
            "resources": {"claims": [{"name": "mnnvl-claim"}]},
        }
    ],
    "resourceClaims": [{"name": "mnnvl-claim", "resourceClaimTemplateName": "llm-0-g"}],
    "securityContext": {},
}


def wanted(live: PodClique | None, **template: Any) -> PodClique:
    outline = Outline(a_set("llm", a_clique("worker", **({"podSpec": POD_SPEC} | template))))
    return clique(outline, outline.alone(0)[0], outline.set, live)


def by_grove(pod_spec: Json = AS_GROVE_STORES_IT, **template: Any) -> PodClique:
    """A PodClique as Grove leaves it: its own hash, and nothing of what only we write."""
    mine = wanted(None, **template)
    return stored(
        mine,
        labels={POD_TEMPLATE_HASH: GROVES},
        annotations={key: None for key in mine.metadata.annotations if key.startswith("trellis")},
        spec={"podSpec": pod_spec, "replicas": 3},
    )


def after_a_pass(live: PodClique, **template: Any) -> PodClique:
    return patched(live, compare_clique(live, wanted(live, **template)))


def test_a_foreign_hash_on_an_equal_template_counts_as_current() -> None:
    taken_over = after_a_pass(by_grove())

    own = taken_over.metadata.labels[POD_TEMPLATE_HASH]
    assert own.startswith("v1-")
    assert current_hashes(taken_over) == {own, GROVES}
    assert taken_over.spec.replicas == 3
    assert compare_clique(taken_over, wanted(taken_over)) == {}


def test_amounts_that_grove_wrote_in_its_own_words_are_the_same_template() -> None:
    def asking(cpu: str, memory: str) -> Json:
        limits = {"resources": {"limits": {"cpu": cpu, "memory": memory}}}
        return {"containers": [{"name": "main", "image": "app:1", **limits}]}

    taken_over = after_a_pass(by_grove(asking("1", "1Gi")), podSpec=asking("1000m", "1024Mi"))

    assert GROVES in current_hashes(taken_over)


def test_what_servers_fill_in_is_the_same_template_whoever_wrote_it() -> None:
    filled_in = {"dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30}

    assert GROVES in current_hashes(after_a_pass(by_grove(AS_GROVE_STORES_IT | filled_in)))
    assert GROVES in current_hashes(after_a_pass(by_grove(), podSpec=POD_SPEC | filled_in))


def test_what_says_nothing_is_not_written_to_a_clique_that_is_there() -> None:
    live = stored(wanted(None))

    assert compare_clique(live, wanted(live, podSpec=POD_SPEC | {"tolerations": []})) == {}


@pytest.mark.parametrize(
    "template",
    [
        {"podSpec": {"containers": [{"name": "main", "image": "app:2"}]}},
        {"podSpec": POD_SPEC | {"hostNetwork": True}},
        {"podSpec": POD_SPEC | {"automountServiceAccountToken": False}},
        {"labels": {"team": "a"}},
        {"annotations": {"note": "x"}},
    ],
    ids=["image", "switch", "switch that is off", "label", "annotation"],
)
def test_a_foreign_hash_on_another_template_does_not(template: Json) -> None:
    taken_over = after_a_pass(by_grove(), **template)

    assert current_hashes(taken_over) == {taken_over.metadata.labels[POD_TEMPLATE_HASH]}


def test_the_topology_of_a_template_is_no_difference() -> None:
    named = {"annotations": {"grove.io/topology-name": "grove-topology", "note": "x"}}

    assert GROVES in current_hashes(after_a_pass(by_grove(**named), **named))


def test_a_label_of_ours_in_a_template_is_no_difference() -> None:
    """Whether Grove left it as it was, or wrote its own over it."""
    own = {"labels": {"grove.io/podcliquescalinggroup": "mine", "grove.io/podgang": "mine"}}
    live = patched(by_grove(), {"metadata": {"labels": {"grove.io/podcliquescalinggroup": "mine"}}})

    taken_over = after_a_pass(live, **own)

    assert GROVES in current_hashes(taken_over)
    assert "grove.io/podcliquescalinggroup" not in taken_over.metadata.labels
    assert compare_clique(taken_over, wanted(taken_over, **own)) == {}


def test_a_hash_of_ours_on_another_template_is_outdated() -> None:
    ours = stored(wanted(None))
    changed: Json = {"podSpec": {"containers": []}}

    after = after_a_pass(ours, **changed)

    assert current_hashes(after) == {after.metadata.labels[POD_TEMPLATE_HASH]}
    assert current_hashes(after).isdisjoint(current_hashes(ours))


def test_going_back_to_the_template_that_was_taken_over_makes_its_pods_current_again() -> None:
    taken_over = after_a_pass(by_grove())

    away = after_a_pass(taken_over, podSpec={"containers": []})
    back = after_a_pass(away)

    assert GROVES not in current_hashes(away)
    assert GROVES in current_hashes(back)


def test_no_more_is_noted_than_operators_could_have_left() -> None:
    live = by_grove()
    for number in range(20):
        live = patched(live, {"metadata": {"labels": {POD_TEMPLATE_HASH: f"foreign{number}"}}})
        live = after_a_pass(live)

    noted = msgspec.json.decode(live.metadata.annotations[HASH_ALIASES])
    assert list(noted.values()) == [[f"foreign{number}" for number in range(12, 20)]]


@pytest.mark.parametrize("text", ["{", "[]", '{"v1-x": "y"}'], ids=["torn", "list", "no list"])
def test_notes_that_somebody_spoiled_make_no_pod_current(text: str) -> None:
    spoiled = stored(wanted(None), annotations={HASH_ALIASES: text})

    assert current_hashes(spoiled) == {spoiled.metadata.labels[POD_TEMPLATE_HASH]}
    assert after_a_pass(spoiled).metadata.annotations.get(HASH_ALIASES) is None


def test_a_hash_that_somebody_removed_is_put_back_and_makes_no_alias() -> None:
    bare = stored(wanted(None), labels={POD_TEMPLATE_HASH: None})

    assert current_hashes(bare) == frozenset()
    after = after_a_pass(bare)
    assert current_hashes(after) == {after.metadata.labels[POD_TEMPLATE_HASH]}
