# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api import annotation
from trellis.api.annotation import APPLIED, FROM_TEMPLATE, MNNVL_GROUP, TOPOLOGY_NAME
from trellis.api.grove.template import EXPLICIT, IN_ORDER
from trellis.api.labels import POD_TEMPLATE_HASH, RESERVED
from trellis.api.meta import encode
from trellis.workloads.members import applied, clique
from trellis.workloads.outline import Member, Outline

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

POD_SPEC = {
    "containers": [{"name": "main", "image": "app:1", "fieldOfTomorrow": {"deep": [1]}}],
    "anotherOfTomorrow": True,
}


def alone(outline: Outline, replica: int = 0, name: str = "worker") -> Member:
    return next(one for one in outline.alone(replica) if one.template.name == name)


def grouped(outline: Outline, index: int = 0, name: str = "worker", group: str = "pd") -> Member:
    members = outline.grouped(0, outline.groups[group], index)
    return next(one for one in members if one.template.name == name)


def made(outline: Outline, member: Member, live: PodClique | None = None) -> PodClique:
    return clique(outline, member, outline.set, live)


def test_a_standalone_clique_has_the_labels_of_both_families() -> None:
    outline = Outline(a_set("llm", a_clique("worker"), replicas=2))

    found = made(outline, alone(outline, 1))

    assert found.metadata.key == ("default", "llm-1-worker")
    assert found.metadata.labels == {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "app.kubernetes.io/name": "llm-1-worker",
        "app.kubernetes.io/component": "pcs-podclique",
        "grove.io/podcliqueset-replica-index": "1",
        "grove.io/podgang": "llm-1",
        "grove.io/pod-template-hash": outline.template_hashes["worker"],
        "grove.io/pcs-name": "llm",
        "grove.io/pcs-replica-index": "1",
        "grove.io/clique-name": "worker",
    }
    owner = found.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == ("PodCliqueSet", "llm", "uid-llm")


@pytest.mark.parametrize(
    ("index", "gang", "base"),
    [(0, "llm-0", None), (1, "llm-0-pd-0", "llm-0")],
    ids=["in the base gang", "in a scaled gang"],
)
def test_a_member_says_its_group_and_its_gang(index: int, gang: str, base: str | None) -> None:
    outline = Outline(a_set("llm", a_clique("worker"), groups=(a_group("pd", "worker"),)))

    labels = made(outline, grouped(outline, index)).metadata.labels

    assert labels["app.kubernetes.io/component"] == "pcsg-podclique"
    assert labels["grove.io/podcliquescalinggroup"] == "llm-0-pd"
    assert labels["grove.io/podcliquescalinggroup-replica-index"] == str(index)
    assert labels["grove.io/pcsg-name"] == "pd"
    assert labels["grove.io/podgang"] == gang
    assert labels.get("grove.io/base-podgang") == base


def test_labels_of_ours_win_over_those_of_the_template() -> None:
    own = {"team": "a", "grove.io/podgang": "mine", "app.kubernetes.io/part-of": "mine"}
    outline = Outline(a_set("llm", a_clique("worker", labels=own)))

    labels = made(outline, alone(outline)).metadata.labels

    assert (labels["team"], labels["grove.io/podgang"]) == ("a", "llm-0")
    assert labels["app.kubernetes.io/part-of"] == "llm"


@pytest.mark.parametrize("key", sorted(RESERVED))
def test_a_label_that_is_ours_to_write_is_never_the_templates(key: str) -> None:
    """Such as the group of a clique in none: its gang would never be made."""
    plain, marked = (
        Outline(a_set("llm", a_clique("worker", labels=own)))
        for own in ({"team": "a"}, {"team": "a", key: "mine"})
    )

    without, found = (made(one, alone(one)).metadata for one in (plain, marked))

    mark = {POD_TEMPLATE_HASH: marked.template_hashes["worker"]}
    assert found.labels == without.labels | mark
    assert found.annotations[FROM_TEMPLATE] == without.annotations[FROM_TEMPLATE]


@pytest.mark.parametrize("key", sorted(annotation.RESERVED))
def test_a_note_that_is_ours_to_make_is_never_the_templates(key: str) -> None:
    outline = Outline(a_set("llm", a_clique("worker", annotations={key: "mine"})))

    assert "mine" not in made(outline, alone(outline)).metadata.annotations.values()


def test_the_hash_of_a_template_with_a_label_of_ours_is_what_it_was() -> None:
    """Another one would roll what runs when the operator is updated."""
    own = {"team": "a", "grove.io/podcliquescalinggroup": "mine", "grove.io/podgang": "mine"}

    outline = Outline(a_set("llm", a_clique("worker", labels=own)))

    assert outline.template_hashes["worker"] == "v1-cb56c872cc72908d16a5"


def test_annotations_are_the_templates_without_the_name_of_the_topology() -> None:
    own = {"note": "x", TOPOLOGY_NAME: "grove-topology"}
    outline = Outline(a_set("llm", a_clique("worker", annotations=own, labels={"team": "a"})))

    annotations = made(outline, alone(outline)).metadata.annotations

    assert annotations["note"] == "x"
    assert TOPOLOGY_NAME not in annotations
    assert msgspec.json.decode(annotations[FROM_TEMPLATE]) == {
        "labels": ["team"],
        "annotations": ["note"],
    }


@pytest.mark.parametrize(
    ("of_clique", "of_group", "of_set", "expected"),
    [
        ("own", "group", "set", "own"),
        (None, "group", "set", "group"),
        (None, None, "set", "set"),
        (None, "none", "set", "none"),
        (None, None, None, None),
    ],
    ids=["its own", "its group's", "its set's", "its group opts out", "nobody's"],
)
def test_the_fabric_group_is_that_of_the_nearest_layer(
    of_clique: str | None, of_group: str | None, of_set: str | None, expected: str | None
) -> None:
    def annotated(value: str | None) -> dict[str, str]:
        return {} if value is None else {MNNVL_GROUP: value}

    group = a_group("pd", "worker", annotations=annotated(of_group))
    outline = Outline(
        a_set(
            "llm",
            a_clique("worker", annotations=annotated(of_clique)),
            groups=(group,),
            metadata={"annotations": annotated(of_set)},
        )
    )

    found = made(outline, grouped(outline)).metadata.annotations

    assert found.get(MNNVL_GROUP) == expected


def test_the_pod_spec_is_the_templates_byte_for_byte() -> None:
    outline = Outline(a_set("llm", a_clique("worker", podSpec=POD_SPEC)))

    found = made(outline, alone(outline))

    assert bytes(found.spec.pod_spec) == bytes(outline.cliques["worker"].spec.pod_spec)
    assert msgspec.json.decode(encode(found))["spec"]["podSpec"] == POD_SPEC


def test_the_number_of_pods_is_the_templates_only_at_first() -> None:
    outline = Outline(a_set("llm", a_clique("worker", replicas=2, least=1)))
    member = alone(outline)
    first = made(outline, member)

    later = made(outline, member, stored(first, spec={"replicas": 0}))

    assert (first.spec.replicas, later.spec.replicas) == (2, 0)


@pytest.mark.parametrize("startup", [IN_ORDER, EXPLICIT])
def test_parents_are_named_in_full(startup: str) -> None:
    cliques = [a_clique("leader"), a_clique("worker", startsAfter=["leader"])]
    outline = Outline(
        a_set("llm", *cliques, groups=(a_group("pd", "leader", "worker"),), startup=startup)
    )

    base, scaled = (made(outline, grouped(outline, index)) for index in (0, 1))

    assert base.spec.starts_after == ("llm-0-pd-0-leader",)
    assert scaled.spec.starts_after == ("llm-0-pd-1-leader",)


def test_parents_that_have_no_effect_are_left_out() -> None:
    cliques = [a_clique("leader"), a_clique("worker", startsAfter=["leader"])]
    outline = Outline(a_set("llm", *cliques))

    assert made(outline, alone(outline)).spec.starts_after == ()


def test_cliques_whose_names_end_alike_get_each_their_own_spec() -> None:
    pods = {name: {"containers": [{"name": name}]} for name in ("worker", "gpu-worker")}
    outline = Outline(a_set("llm", *(a_clique(name, podSpec=pods[name]) for name in pods)))

    for name, spec in pods.items():
        assert msgspec.json.decode(made(outline, alone(outline, 0, name)).spec.pod_spec) == spec


def test_all_that_goes_in_is_marked() -> None:
    before = Outline(a_set("llm", a_clique("worker", replicas=1, least=1)))
    changes = {
        "image": a_clique("worker", podSpec={"containers": [{"name": "main", "image": "2"}]}),
        "label": a_clique("worker", labels={"a": "b"}),
        "annotation": a_clique("worker", annotations={"a": "b"}),
        "role": a_clique("worker", roleName="other"),
        "minimum": a_clique("worker", least=0),
        "autoscaling": a_clique("worker", autoScalingConfig={"maxReplicas": 3}),
    }
    marks = {
        name: applied(outline, alone(outline))
        for name, outline in {
            "before": before,
            **{name: Outline(a_set("llm", body)) for name, body in changes.items()},
            "priority": Outline(a_set("llm", a_clique("worker"), priorityClassName="high")),
        }.items()
    }
    assert len(set(marks.values())) == len(marks), marks


def test_the_number_of_pods_is_not_in_the_mark() -> None:
    few, many = (Outline(a_set("llm", a_clique("worker", count, least=1))) for count in (1, 9))

    live = stored(made(few, alone(few)), spec={"replicas": 5})

    assert applied(few, alone(few)) == applied(many, alone(many))
    assert live.metadata.annotations[APPLIED] == applied(many, alone(many))
