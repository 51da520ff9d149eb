# SPDX-License-Identifier: Apache-2.0
"""Both forms of discovery, against what the real server said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.kinds import GROUP, definition, schema
from tests.unit.embedded.wire.builders import custom, customs, golden, natives
from trellis.embedded.wire.discovery import Catalogue, precedence

RECORDED = golden("discovery")
RESOURCES = [title for title in RECORDED if title.endswith("storage hashes")]
GROUPS = [title for title in RECORDED if title.endswith("is the group")]
AGGREGATED = [title for title in RECORDED if title.startswith("/apis aggregated")]


def body(title: str) -> Any:
    return RECORDED[title][0]["body"]


def catalogue() -> Catalogue:
    return Catalogue([*natives(), *customs()], "<server>")


@pytest.mark.parametrize("title", RESOURCES)
def test_resources_of_a_version_are_as_recorded(title: str) -> None:
    _, *parts = title.split(maxsplit=1)[0].strip("/").split("/")
    group, version = parts if len(parts) == 2 else ("", *parts)
    assert catalogue().resources(group, version) == body(title)


@pytest.mark.parametrize("title", GROUPS)
def test_a_group_is_as_recorded(title: str) -> None:
    assert catalogue().group(title.split(maxsplit=1)[0].rpartition("/")[2]) == body(title)


@pytest.mark.parametrize("title", AGGREGATED)
def test_a_group_is_aggregated_as_recorded(title: str) -> None:
    found = json.loads(catalogue().aggregated(core=False)[0])
    wanted = title.rsplit(maxsplit=1)[-1]
    found["items"] = [each for each in found["items"] if each["metadata"]["name"] == wanted]
    assert found == body(title)


def test_the_core_group_is_aggregated_as_recorded() -> None:
    found = json.loads(catalogue().aggregated(core=True)[0])
    assert found == body("/api aggregated holds every core resource")


def test_the_core_versions_are_as_recorded() -> None:
    assert catalogue().core_versions() == body(
        "/api lists the versions of the core group and where the server is"
    )


def test_groups_come_in_the_recorded_order_and_custom_ones_last() -> None:
    names = [group["name"] for group in catalogue().groups()["groups"]]
    assert names == [*RECORDED["built-in groups come in a fixed order"][0]["value"], GROUP]


def test_custom_kinds_are_listed_as_recorded() -> None:
    title = (
        "a custom group version lists its resources in any order, with verbs in an order of its own"
    )
    found = catalogue().resources(GROUP, "v1")
    assert found is not None
    found["resources"].sort(key=lambda each: str(each["name"]))
    assert found == body(title)


def test_versions_of_a_definition_come_by_priority() -> None:
    crd = definition("x.example.com", "things", "Thing", {"schema": schema()})
    names = ("v1", "v1beta1", "v2", "v1alpha1", "other", "v10")
    listed = [replace(custom(crd), version=name) for name in names]
    group = Catalogue(listed, "").group("x.example.com")
    assert group is not None
    assert [each["version"] for each in group["versions"]] == [
        "v10",
        "v2",
        "v1",
        "v1beta1",
        "v1alpha1",
        "other",
    ]
    assert group["preferredVersion"]["version"] == "v10"


@pytest.mark.parametrize(
    ("first", "second"),
    [("v2", "v1"), ("v1", "v2beta1"), ("v1beta2", "v1beta1"), ("v1alpha1", "a"), ("a", "b")],
)
def test_one_version_precedes_another(first: str, second: str) -> None:
    assert sorted([second, first], key=precedence) == [first, second]


def test_what_is_not_served_is_none() -> None:
    found = catalogue()
    assert found.group("none.example.com") is None
    assert found.group("") is None
    assert found.resources("apps", "v9") is None


def test_the_tag_changes_with_what_is_served() -> None:
    before = Catalogue(natives(), "").aggregated(core=False)[1]
    assert before == Catalogue(natives(), "").aggregated(core=False)[1]
    assert before != catalogue().aggregated(core=False)[1]
