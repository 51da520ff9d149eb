# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import structs

from tests.unit.workloads.sets import a_clique, a_set
from tests.unit.workloads.sharing.sets import (
    EXTERNAL,
    a_sharing_set,
    a_spec,
    a_template,
    for_all,
    for_each,
)
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup, PodCliqueScalingGroupSpec
from trellis.api.meta import Key, Metadata
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.sharing import (
    Claims,
    Known,
    clique_claims,
    group_claims,
    set_claims,
)
from trellis.workloads.sharing.templates import templates_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate


def known(
    claims: Iterable[ResourceClaim] = (), templates: Mapping[Key, ResourceClaimTemplate] = EXTERNAL
) -> Known:
    return Known(claims=claims, find=templates.get)


def a_group(outline: Outline, replicas: int) -> PodCliqueScalingGroup:
    names = tuple(outline.groups["pd"].clique_names)
    metadata = Metadata(name="rs-0-pd", namespace="default", uid="uid-pd")
    spec = PodCliqueScalingGroupSpec(replicas=replicas, clique_names=names)
    return PodCliqueScalingGroup(metadata=metadata, spec=spec)


def of_group(replicas: int, found: Known | None = None) -> Claims:
    outline = Outline(a_sharing_set())
    group = a_group(outline, replicas)
    return group_claims(outline, group, outline.groups["pd"], found or known())


def of_clique(indices: list[int]) -> Claims:
    outline = Outline(a_sharing_set())
    member = outline.alone(0)[0]
    made = clique(outline, member, outline.set, None)
    return clique_claims(outline, member, made, indices, known())


def names(claims: Claims) -> list[str]:
    return [claim.metadata.name for claim in claims.want]


def asked(claim: ResourceClaim) -> str:
    spec: dict[str, Any] = msgspec.json.decode(claim.spec)
    found: str = spec["devices"]["requests"][0]["exactly"]["deviceClassName"]
    return found


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        (0, ["rs-all-int-1", "rs-all-int-3"]),
        (
            2,
            [
                "rs-all-int-1",
                *("rs-0-ext", "rs-1-ext"),
                *("rs-0-int-2", "rs-1-int-2"),
                "rs-all-int-3",
            ],
        ),
    ],
    ids=["without replicas", "with two"],
)
def test_a_set_has_one_for_all_replicas_or_one_for_each(replicas: int, expected: list[str]) -> None:
    assert names(set_claims(Outline(a_sharing_set(replicas)), known())) == expected


def test_a_group_has_one_for_all_its_replicas_or_one_for_each() -> None:
    assert names(of_group(3)) == [
        "rs-0-pd-all-int-2",
        *("rs-0-pd-0-int-3", "rs-0-pd-1-int-3", "rs-0-pd-2-int-3"),
        "rs-0-pd-all-int-6",
    ]


def test_a_clique_has_one_for_all_its_pods_or_one_for_each_index() -> None:
    assert names(of_clique([0, 4])) == [
        *("rs-0-alone-0-int-4", "rs-0-alone-4-int-4"),
        "rs-0-alone-all-far",
    ]


def test_labels_and_owners_say_whose_a_claim_is() -> None:
    of_set = set_claims(Outline(a_sharing_set()), known()).want
    whole, each = of_set[0], of_set[1]
    group_whole, group_each = of_group(1).want[:2]
    (pod_each, clique_whole) = of_clique([4]).want
    common = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "rs",
        "app.kubernetes.io/component": "resource-claim",
        "grove.io/pcs-name": "rs",
    }
    of_replica = {"grove.io/podcliqueset-replica-index": "0", "grove.io/pcs-replica-index": "0"}
    of_pd = {"grove.io/podcliquescalinggroup": "rs-0-pd", "grove.io/pcsg-name": "pd"}
    of_alone = {"grove.io/podclique": "rs-0-alone", "grove.io/clique-name": "alone"}

    assert whole.metadata.labels == common
    assert each.metadata.labels == common | of_replica
    assert group_whole.metadata.labels == common | of_pd
    assert group_each.metadata.labels == common | of_pd | {
        "grove.io/podcliquescalinggroup-replica-index": "0",
        "grove.io/pcsg-replica-index": "0",
    }
    assert clique_whole.metadata.labels == common | of_alone
    assert pod_each.metadata.labels == common | of_alone | {"grove.io/podclique-pod-index": "4"}
    owners = [
        (owner.kind, owner.name)
        for claim in (whole, group_whole, clique_whole)
        if (owner := claim.metadata.controller)
    ]
    assert owners == [
        ("PodCliqueSet", "rs"),
        ("PodCliqueScalingGroup", "rs-0-pd"),
        ("PodClique", "rs-0-alone"),
    ]


def test_a_template_of_the_set_itself_comes_before_an_object_of_that_name() -> None:
    templates = {**EXTERNAL, Key("default", "int-1"): a_template("int-1", kind="object")}

    first = set_claims(Outline(a_sharing_set()), known(templates=templates)).want[0]

    assert asked(first) == "class-int-1"
    assert first.metadata.annotations == {}


def test_a_template_may_be_in_another_namespace_and_its_claim_is_in_ours() -> None:
    claim = of_clique([])
    assert names(claim) == ["rs-0-alone-all-far"]
    assert claim.want[0].metadata.namespace == "default"
    assert asked(claim.want[0]) == "class-far"


def test_a_new_claim_has_what_its_template_gives_it_beneath_what_is_ours() -> None:
    given: dict[str, Any] = {
        "labels": {"team": "a", "app.kubernetes.io/part-of": "b"},
        "annotations": {"note": "x"},
    }
    templates = EXTERNAL | {Key("default", "ext"): a_template("ext", **given)}

    claim = set_claims(Outline(a_sharing_set()), known(templates=templates)).want[1]

    assert claim.metadata.labels["team"] == "a"
    assert claim.metadata.labels["app.kubernetes.io/part-of"] == "rs"
    assert claim.metadata.annotations == {"note": "x"}


def test_a_template_that_is_not_there_is_told_once_and_holds_up_nothing_else() -> None:
    claims = set_claims(Outline(a_sharing_set(3)), known(templates={}))

    assert names(claims) == [
        "rs-all-int-1",
        *("rs-0-int-2", "rs-1-int-2", "rs-2-int-2"),
        "rs-all-int-3",
    ]
    assert [str(one) for one in claims.unresolved] == [
        "the claim template default/ext, which resourceSharing names, "
        "is neither in resourceClaimTemplates nor an object: make it"
    ]


def test_a_claim_that_is_there_stays_as_it_is_without_its_template() -> None:
    before = set_claims(Outline(a_sharing_set()), known())

    after = set_claims(Outline(a_sharing_set()), known(before.want, templates={}))

    assert after.unresolved == ()
    assert [(one.metadata.name, one.spec) for one in after.want] == [
        (one.metadata.name, one.spec) for one in before.want
    ]


def test_a_claim_that_is_going_is_made_anew_from_its_template() -> None:
    first = set_claims(Outline(a_sharing_set()), known()).want[1]
    gone = structs.replace(first.metadata, deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC))
    going = structs.replace(first, metadata=gone)
    changed = EXTERNAL | {Key("default", "ext"): a_template("far")}

    again = set_claims(Outline(a_sharing_set()), known([going], templates=changed)).want[1]

    assert asked(again) == "class-far"


def test_a_template_that_cannot_be_read_is_told() -> None:
    template = {"name": "torn", "templateSpec": {"metadata": {}}}
    found = a_set("rs", resourceClaimTemplates=[template], resourceSharing=[for_all("torn")])

    claims = set_claims(Outline(found), known())

    assert claims.want == ()
    assert "cannot be read: Object missing required field `spec`" in str(claims.unresolved[0])


def test_a_template_object_that_asks_for_admin_access_is_told_and_makes_no_claim() -> None:
    request = {"name": "dev", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}
    template = structs.replace(
        a_template("ext"), spec=msgspec.Raw(msgspec.json.encode(a_spec("gpu", request)))
    )
    claims = set_claims(
        Outline(a_sharing_set()), known(templates={Key("default", "ext"): template})
    )

    assert names(claims) == ["rs-all-int-1", "rs-0-int-2", "rs-all-int-3"]
    assert [str(one) for one in claims.unresolved] == [
        "the claim template default/ext, which resourceSharing names, asks for admin access in "
        "spec.devices.requests[1].exactly.adminAccess: make the ResourceClaim yourself and name "
        "it in the pod spec"
    ]


def test_a_template_of_a_set_that_nobody_reviewed_gives_no_admin_access_either() -> None:
    request = {"name": "dev", "adminAccess": True}
    template = {"name": "mine", "templateSpec": a_spec("gpu", request)}
    found = a_set("rs", resourceClaimTemplates=[template], resourceSharing=[for_all("mine")])

    claims = set_claims(Outline(found), known())

    assert claims.want == ()
    assert "asks for admin access" in str(claims.unresolved[0])


def test_a_set_that_shares_nothing_has_no_claims() -> None:
    assert set_claims(Outline(a_set("rs", a_clique("worker"))), known()) == Claims()


def test_the_objects_that_claims_are_made_from_are_known_at_every_level() -> None:
    assert set(templates_of(a_sharing_set())) == {Key("default", "ext"), Key("other", "far")}


def test_a_set_may_share_a_template_of_its_own_at_two_levels() -> None:
    shares = a_clique("worker") | {"resourceSharing": [for_each("gpu")]}
    found = a_set("rs", shares, resourceSharing=[for_all("gpu")])

    assert set(templates_of(found)) == {Key("default", "gpu")}
