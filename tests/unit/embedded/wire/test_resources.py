# SPDX-License-Identifier: Apache-2.0
"""The built-in resources we keep as data."""

from __future__ import annotations

from trellis.embedded.wire.resources import builtin, group_versions, version


def test_every_resource_belongs_to_a_version_that_is_listed() -> None:
    assert {(each.group, each.version) for each in builtin()} == set(group_versions())


def test_the_core_group_comes_first_and_each_version_once() -> None:
    versions = group_versions()
    assert versions[0] == ("", "v1")
    assert len(versions) == len(set(versions))


def test_subresources_are_of_their_resource_and_not_resources_themselves() -> None:
    pods = next(each for each in builtin() if each.plural == "pods")
    assert pods.subresources["eviction"] == {
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert not any("/" in each.plural for each in builtin())


def test_the_version_names_its_minor() -> None:
    assert version()["gitVersion"].startswith(f"v1.{version()['minor']}.")
