# SPDX-License-Identifier: Apache-2.0
"""New objects come out as the real server returned them, but for what a store adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD, SERVICE, Native
from tests.conformance.probes import native_defaults, native_pod_defaults
from tests.unit.embedded.natives.desk import PROBE, Desk, golden, normalised, without

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_THE_STORE = ("managedFields", "resourceVersion")


def _natives() -> Iterator[Any]:
    seen = golden("native_defaults")
    for title, native, changes in native_defaults._CASES:
        yield pytest.param(native, changes, seen[title][0]["body"], id=title)


@pytest.mark.parametrize(("native", "changes", "expected"), list(_natives()))
def test_an_object_gets_the_defaults_of_the_real_server(
    native: Native, changes: Any, expected: dict[str, Any]
) -> None:
    made = Desk().create(native, native.new(PROBE, changes))
    assert normalised(made) == without(expected, *_OF_THE_STORE)


@pytest.mark.parametrize(
    ("title", "changes"),
    [pytest.param(*each, id=each[0]) for each in native_defaults._SERVICES.items()],
)
def test_a_service_gets_addresses_and_ports(title: str, changes: Any) -> None:
    expected = golden("native_defaults")[title][0]["body"]
    made = Desk().create(SERVICE, SERVICE.new(PROBE, changes))
    address = made["spec"].get("clusterIP", "None")
    hidden = {} if address == "None" else {address: "<cluster IP>"}
    shown = normalised(native_defaults._without_node_ports(made), **hidden)
    assert shown == without(expected, *_OF_THE_STORE)


def _pods() -> Iterator[Any]:
    seen = golden("native_pod_defaults")
    for title, spec, pick in native_pod_defaults._CASES:
        yield pytest.param(spec, pick, seen[title][0]["body"], id=title)


@pytest.mark.parametrize(("spec", "pick", "expected"), list(_pods()))
def test_a_pod_gets_the_defaults_of_the_real_server(
    spec: dict[str, Any], pick: Any, expected: Any
) -> None:
    shown = normalised(pick(Desk().create(POD, pod("a", spec))))
    whole = isinstance(expected, dict) and "metadata" in expected
    assert shown == (without(expected, *_OF_THE_STORE) if whole else expected)
