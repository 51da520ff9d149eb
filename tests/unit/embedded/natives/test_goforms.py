# SPDX-License-Identifier: Apache-2.0
"""Objects in messages, as Go prints its own types."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD
from tests.unit.embedded.natives.desk import Desk
from trellis.embedded.natives.goforms import difference, internal, printed


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [
        pytest.param(
            "core.Taint",
            {"key": "a"},
            '{"Key":"a","Value":"","Effect":"","TimeAdded":null}',
            id="zeros and nulls",
        ),
        pytest.param(
            "*meta.LabelSelector",
            {"matchLabels": {"b": "1", "a": "2"}},
            '{"matchLabels":{"a":"2","b":"1"}}',
            id="tags",
        ),
        pytest.param("*meta.LabelSelector", None, "null", id="nothing"),
        pytest.param("[]core.HostIP", [{"ip": "::1"}], '[{"IP":"::1"}]', id="a list"),
        pytest.param(
            "policy.PodDisruptionBudgetSpec",
            {"minAvailable": "50%"},
            '{"MinAvailable":"50%","Selector":null,"MaxUnavailable":null,'
            '"UnhealthyPodEvictionPolicy":null}',
            id="a number or a share",
        ),
    ],
)
def test_values_are_printed_as_go_prints_them(shape: str, value: Any, expected: str) -> None:
    assert printed(shape, value).text == expected


def test_fields_that_an_internal_pod_keeps_elsewhere_are_found() -> None:
    spec = internal("core.PodSpec", {"hostNetwork": True, "hostUsers": False})
    assert spec["SecurityContext"]["HostNetwork"] is True
    assert spec["SecurityContext"]["HostUsers"] is False
    assert spec["SecurityContext"]["HostPID"] is False
    assert "HostNetwork" not in spec


def test_embedded_parts_are_the_holders_own() -> None:
    volume = internal("core.Volume", {"name": "a", "emptyDir": {"medium": "Memory"}})
    assert volume["EmptyDir"] == {"Medium": "Memory", "SizeLimit": None}
    assert volume["Secret"] is None


def test_every_field_of_a_pod_can_be_printed() -> None:
    made = Desk().create(POD, pod("a"))
    assert json.loads(printed("core.PodSpec", made["spec"]).text)["Containers"][0]["Name"] == "app"


def test_a_difference_shows_three_lines_around_each_change() -> None:
    old, new = {"name": "a", "port": 1}, {"name": "b", "port": 1}
    assert difference("core.ServicePort", old, new) == (
        "@@ -1,5 +1,5 @@\n"
        " {\n"
        '- "Name": "a",\n'
        '+ "Name": "b",\n'
        '  "Protocol": "",\n'
        '  "AppProtocol": null,\n'
        '  "Port": 1,\n'
    )
    assert difference("core.ServicePort", old, old) == ""
