# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.members.builders import patched, stored
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set
from trellis.api.meta import Metadata
from trellis.runtime.plan import Draft
from trellis.workloads.members import clique, compare_clique
from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

Json = dict[str, Any]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=8,
)
POD_SPECS = st.dictionaries(st.sampled_from(("containers", "volumes", "a", "b")), JSON, max_size=4)


def wanted(live: PodClique | None = None, **template: Any) -> PodClique:
    outline = Outline(a_set("llm", a_clique("worker", **template)))
    return clique(outline, outline.alone(0)[0], outline.set, live)


def test_what_a_server_gives_back_is_as_wanted() -> None:
    have = stored(wanted(labels={"a": "b"}, annotations={"c": "d"}))

    assert compare_clique(have, wanted(have, labels={"a": "b"}, annotations={"c": "d"})) == {}


def test_neither_the_order_of_fields_nor_a_null_is_a_difference() -> None:
    have = stored(wanted(podSpec={"a": 1, "b": {"c": None, "d": 1.0}}))

    assert compare_clique(have, wanted(have, podSpec={"b": {"d": 1}, "a": 1})) == {}


def test_an_amount_in_other_words_is_no_difference() -> None:
    def asking(amount: str) -> dict[str, Any]:
        limits = {"resources": {"limits": {"cpu": amount}}}
        return {"containers": [{"name": "main", "image": "app:1", **limits}]}

    have = stored(wanted(podSpec=asking("2")))

    assert compare_clique(have, wanted(have, podSpec=asking("2000m"))) == {}
    assert compare_clique(have, wanted(have, podSpec=asking("2001m"))) != {}


def test_scaling_is_no_difference_and_is_never_undone() -> None:
    have = stored(wanted(), spec={"replicas": 7})
    fresh = wanted()

    assert fresh.spec.replicas == 1
    assert compare_clique(have, fresh) == {}
    patch = compare_clique(have, wanted(have, roleName="other"))
    assert patch["spec"] == {"roleName": "other"}


def test_only_what_differs_in_a_pod_spec_is_sent() -> None:
    have = stored(wanted(podSpec=POD_SPEC | {"nodeSelector": {"a": "1", "b": "2"}, "old": {}}))

    patch = compare_clique(have, wanted(have, podSpec=POD_SPEC | {"nodeSelector": {"a": "1"}}))

    assert patch["spec"] == {"podSpec": {"nodeSelector": {"b": None}, "old": None}}


def test_settings_that_the_template_no_longer_has_go() -> None:
    have = stored(wanted(autoScalingConfig={"maxReplicas": 3}))

    assert compare_clique(have, wanted(have))["spec"] == {"autoScalingConfig": None}


def test_labels_of_others_stay_and_those_that_the_template_lost_go() -> None:
    lost = {"team": "a", "stage": "b"}
    have = stored(
        wanted(labels=lost, annotations={"note": "x"}),
        labels={"theirs": "1"},
        annotations={"theirs": "2"},
    )

    patch = compare_clique(have, wanted(have, labels={"stage": "b"}))
    after = patched(have, patch)

    assert patch["metadata"]["labels"].keys() == {"team", "grove.io/pod-template-hash"}
    assert patch["metadata"]["labels"]["team"] is None
    assert patch["metadata"]["annotations"]["note"] is None
    assert after.metadata.labels["theirs"] == "1"
    assert after.metadata.annotations["theirs"] == "2"
    assert compare_clique(after, wanted(after, labels={"stage": "b"})) == {}


def test_a_record_that_somebody_spoiled_takes_nothing_away() -> None:
    have = stored(wanted(labels={"team": "a"}), annotations={"trellis.dev/from-template": "{"})

    patch = compare_clique(have, wanted(have))

    assert "team" not in patch["metadata"]["labels"]
    assert patch["metadata"]["annotations"]["trellis.dev/from-template"] is None


def test_a_label_that_somebody_changed_is_put_right() -> None:
    have = stored(wanted(), labels={"grove.io/podgang": "elsewhere", "grove.io/pcs-name": None})

    assert compare_clique(have, wanted(have)) == {
        "metadata": {"labels": {"grove.io/podgang": "llm-0", "grove.io/pcs-name": "llm"}}
    }


def test_a_place_that_it_does_not_have_is_taken_off() -> None:
    """As another operator leaves it, with no note of where it came from."""
    claimed = {"grove.io/podcliquescalinggroup": "mine", "grove.io/base-podgang": "llm-7"}
    have = stored(wanted(), labels=claimed)

    assert compare_clique(have, wanted(have)) == {
        "metadata": {"labels": dict.fromkeys(claimed)},
    }


def test_a_label_of_ours_that_an_older_release_took_from_the_template_goes() -> None:
    own = {"grove.io/podcliquescalinggroup-pod-index": "mine"}
    record = msgspec.json.encode({"labels": list(own)}).decode()
    have = stored(wanted(labels=own), labels=own, annotations={"trellis.dev/from-template": record})

    after = patched(have, compare_clique(have, wanted(have, labels=own)))

    assert own.keys().isdisjoint(after.metadata.labels)
    assert compare_clique(after, wanted(after, labels=own)) == {}


def test_only_podcliques_are_compared() -> None:
    have = stored(wanted())

    with pytest.raises(TypeError, match="llm-0-worker"):
        compare_clique(have, Draft(Metadata(name="llm-0-worker"), lambda: b"{}"))


@given(before=POD_SPECS, after=POD_SPECS)
def test_whatever_the_change_one_patch_makes_it_as_wanted(before: Json, after: Json) -> None:
    have = stored(wanted(podSpec=before), spec={"replicas": 3})

    patch = compare_clique(have, wanted(have, podSpec=after))
    now = patched(have, patch)

    assert compare_clique(now, wanted(now, podSpec=after)) == {}
    assert now.spec.replicas == 3
    assert _said(msgspec.json.decode(now.spec.pod_spec)) == _said(after)


def _said(value: Any) -> Any:
    """Without what says nothing, which a merge patch cannot tell from what is not there."""
    if isinstance(value, dict):
        said = {name: _said(inner) for name, inner in value.items()}
        return {name: inner for name, inner in said.items() if inner not in (None, {}, [])}
    if isinstance(value, list):
        return [_said(inner) for inner in value]
    return value
