# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from trellis.embedded.natives.metadata import (
    ANNOTATIONS_LIMIT,
    before_update,
    immutable,
    validate_metadata,
    validate_metadata_update,
    validate_own_finalizers,
)
from trellis.embedded.natives.syntax import path_segment


def _said(errors: list[Any]) -> list[str]:
    return [str(error) for error in errors]


def _object(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "n", **metadata}}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        pytest.param({}, [], id="plain"),
        pytest.param(
            {"name": ""},
            ["metadata.name: Required value: name or generateName is required"],
            id="no name",
        ),
        pytest.param({"namespace": ""}, ["metadata.namespace: Required value"], id="no namespace"),
        pytest.param({"generateName": "a-"}, [], id="a base may end in a dash"),
        pytest.param(
            {"annotations": {"A/b": "", "a": "x" * ANNOTATIONS_LIMIT}},
            [f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"],
            id="annotations",
        ),
        pytest.param(
            {"generation": -1},
            ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
            id="generation",
        ),
        pytest.param(
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [
                'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
                "finalizer orphan and foregroundDeletion cannot be both set"
            ],
            id="finalizers",
        ),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a"}]},
            ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
            id="owner",
        ),
    ],
)
def test_metadata_of_a_new_object(metadata: dict[str, Any], said: list[str]) -> None:
    assert _said(validate_metadata(_object(**metadata), namespaced=True)) == said


def test_two_controllers_are_one_too_many() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u", "controller": True}
    errors = validate_metadata(_object(ownerReferences=[owner, {**owner, "name": "b"}]), True)
    assert "references for Pod/a and Pod/b" in str(errors[0])


def test_a_cluster_scoped_object_has_no_namespace() -> None:
    assert _said(validate_metadata(_object(), namespaced=False)) == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_some_kinds_take_any_name_that_fits_a_path() -> None:
    assert validate_metadata(_object(name="System:A b"), True, path_segment) == []
    assert len(validate_metadata(_object(name="a/b"), True, path_segment)) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            {"uid": "other"}, 'metadata.uid: Invalid value: "other": field is immutable', id="uid"
        ),
        pytest.param(
            {"generation": 1},
            "metadata.generation: Invalid value: 1: must not be decremented",
            id="generation",
        ),
        pytest.param(
            {"deletionTimestamp": None},
            "metadata.deletionTimestamp: Invalid value: null: field is immutable",
            id="deletion",
        ),
        pytest.param(
            {"finalizers": ["a/b", "c/d", "e/f"]},
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            'deleted, found new finalizers []string{"c/d", "e/f"}',
            id="finalizers",
        ),
    ],
)
def test_what_of_metadata_must_stay(change: dict[str, Any], said: str) -> None:
    old = _object(uid="u", generation=2, deletionTimestamp="t", finalizers=["a/b"])
    new = _object(**{**old["metadata"], **change})
    assert _said(validate_metadata_update(new, old)) == [said]


def test_every_update_is_checked_by_the_loosest_rule_for_names() -> None:
    held = _object(name="A B")
    assert before_update(held, held, namespaced=True) == []


def test_finalizers_without_a_domain_are_the_servers_own() -> None:
    assert validate_own_finalizers(_object(finalizers=["kubernetes", "orphan", "a/b"])) == []
    assert len(validate_own_finalizers(_object(finalizers=["mine"]))) == 1


def test_a_fixed_field_shows_what_it_was_to_become() -> None:
    assert immutable("spec.a", 1, 1) == []
    assert _said(immutable("spec.a", 2, 1)) == ["spec.a: Invalid value: 2: field is immutable"]
