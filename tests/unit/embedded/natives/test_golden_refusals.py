# SPDX-License-Identifier: Apache-2.0
"""New objects that the real server refused are refused by us, with the same causes and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD, Native
from tests.conformance.probes import native_pod_validation, native_validation
from tests.unit.embedded.natives.desk import PROBE, Desk, golden, normalised
from trellis.embedded.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator


def _cases() -> Iterator[Any]:
    seen = golden("native_validation")
    for title, native, changes in native_validation._CASES:
        for at, (change, said) in enumerate(zip(changes, seen[title], strict=True)):
            yield from _case(f"{title}, {at}", native, native.new(PROBE, change), said)
    seen = golden("native_pod_validation")
    for title, specs in native_pod_validation._CASES.items():
        for at, (spec, said) in enumerate(zip(specs, seen[title], strict=True)):
            yield from _case(f"{title}, {at}", POD, pod("a", spec), said)


def _case(title: str, native: Native, body: Any, said: dict[str, Any]) -> Iterator[Any]:
    if said["status"] == 422:  # what is 400 was refused when it was decoded
        yield pytest.param(native, body, said["body"], id=title)


@pytest.mark.parametrize(("native", "body", "expected"), list(_cases()))
def test_an_object_is_refused_as_by_the_real_server(
    native: Native, body: dict[str, Any], expected: dict[str, Any]
) -> None:
    body["metadata"]["name"] = expected["details"]["name"].replace("<id>", PROBE.id)
    with pytest.raises(Refusal) as refused:
        Desk().create(native, body)
    assert normalised(refused.value.status) == expected
