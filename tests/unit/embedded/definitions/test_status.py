# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from tests.unit.embedded.definitions.builders import (
    LATER,
    NOW,
    STRATEGY,
    about,
    crd,
    created,
    established,
    version,
)
from trellis.embedded.copying import copied
from trellis.embedded.definitions.served import rank, served_versions
from trellis.embedded.definitions.status import next_status, terminating


def conditions(status: Any) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_a_definition_begins_without_conditions_and_with_its_stored_version() -> None:
    assert created()["status"] == {
        "conditions": None,
        "acceptedNames": {"kind": "", "plural": ""},
        "storedVersions": ["v1"],
    }
    assert served_versions(created()) == []


def test_free_names_are_accepted_and_the_definition_is_established() -> None:
    status = next_status(created(), [], NOW)
    assert status is not None
    assert status["acceptedNames"] == {
        "plural": "things",
        "singular": "thing",
        "kind": "Thing",
        "listKind": "ThingList",
    }
    assert conditions(status) == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }


def test_nothing_follows_once_all_is_settled() -> None:
    assert next_status(established(), [], LATER) is None


def test_names_that_another_has_are_not_accepted_until_it_is_gone() -> None:
    other = created(names={"plural": "gizmos", "kind": "Thing", "singular": "gizmo"})
    status = next_status(other, [established()], NOW)
    assert status is not None
    assert status["acceptedNames"] == {"plural": "gizmos", "singular": "gizmo", "kind": ""}
    assert conditions(status) == {
        "NamesAccepted": ("False", "ListKindConflict"),
        "Established": ("False", "NotAccepted"),
    }
    waiting = other | {"status": status}
    assert served_versions(waiting) == []
    after = next_status(waiting, [], LATER)
    assert after is not None
    assert conditions(after)["Established"] == ("True", "InitialNamesAccepted")


def test_a_short_name_that_is_anothers_plural_is_not_accepted() -> None:
    other = created(names={"plural": "gizmos", "kind": "Gizmo", "shortNames": ["things"]})
    status = next_status(other, [established()], NOW)
    assert status is not None
    naming = next(each for each in status["conditions"] if each["type"] == "NamesAccepted")
    assert (naming["reason"], naming["message"]) == (
        "ShortNamesConflict",
        '"things" is already in use',
    )
    assert "shortNames" not in status["acceptedNames"]


def test_a_group_of_the_project_without_its_approval_says_so() -> None:
    unapproved = created(group="x.k8s.io")
    unapproved["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    status = next_status(unapproved, [], NOW)
    assert status is not None
    assert conditions(status)["KubernetesAPIApprovalPolicyConformant"] == (
        "False",
        "UnapprovedAnnotation",
    )


def test_a_definition_goes_in_steps() -> None:
    found = established()
    steps = [terminating(found, LATER, waiting=waiting) for waiting in (None, True, False)]
    assert [conditions(status)["Terminating"] for status in steps] == [
        ("True", "InstanceDeletionPending"),
        ("True", "InstanceDeletionInProgress"),
        ("False", "InstanceDeletionCompleted"),
    ]
    never = terminating(next_accepted(created()), LATER, waiting=False)
    assert conditions(never)["Terminating"] == ("False", "NeverEstablished")


def next_accepted(definition: dict[str, Any]) -> dict[str, Any]:
    status = next_status(definition, [established()], NOW)
    return definition | {"status": status}


def test_the_best_version_is_served_first_and_one_that_is_not_served_not_at_all() -> None:
    names = ["v1", "v2alpha1", "v10", "v2", "v2beta1", "old", "v1beta2"]
    versions = [version(name, served=name != "v2") for name in names]
    found = [served.version for served in served_versions(established(*versions))]
    assert found == ["v10", "v1", "v2beta1", "v1beta2", "v2alpha1", "old"]
    assert sorted(["b", "v1", "a"], key=rank) == ["v1", "a", "b"]


def test_what_is_served_is_what_the_definition_says() -> None:
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    (served,) = served_versions(
        established(
            version(
                subresources={"status": {}, "scale": scale},
                selectableFields=[{"jsonPath": ".status.n"}],
                deprecated=True,
            )
        )
    )
    assert served.subresources["status"]["kind"] == "Thing"
    assert served.subresources["scale"]["paths"] == scale
    assert served.selectable == ("status.n",)
    assert served.storage_version == "v1"
    assert served.deprecation == "example.com/v1 Thing is deprecated"


def test_the_spec_of_a_definition_counts_and_its_status_is_kept() -> None:
    old = established()
    new = crd(version(), version("v2"), names={"categories": ["all"]})
    STRATEGY.prepare_update(new, old, about())
    assert (new["metadata"]["generation"], new["status"]) == (2, old["status"])
    same = copied(old)
    STRATEGY.prepare_update(same, old, about())
    assert same == old


def test_a_write_of_a_definitions_status_leaves_its_spec_alone() -> None:
    old, new = established(), established()
    new["spec"] = crd(version("v3", storage=True))["spec"]
    STRATEGY.prepare_update(new, old, about("status"))
    assert new["spec"] == old["spec"]
    assert STRATEGY.validate_update(new, old, about("status")) == []
