# SPDX-License-Identifier: Apache-2.0
"""The operator makes no claim that its author could not make."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.sets import a_set_body

Json = dict[str, Any]
REQUESTS = "spec.template.resourceClaimTemplates[0].templateSpec.spec.devices.requests"
PLAIN: Json = {"name": "plain", "exactly": {"deviceClassName": "gpu"}}


def body(*requests: Any, replicas: int = 1) -> Json:
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    templates = [{"name": "t", "templateSpec": spec}]
    return a_set_body("rc", replicas=replicas, resourceClaimTemplates=templates)


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        pytest.param(
            {"name": "a", "exactly": {"deviceClassName": "gpu", "adminAccess": True}},
            "exactly.adminAccess",
            id="as it is written today",
        ),
        pytest.param(
            {"name": "a", "deviceClassName": "gpu", "adminAccess": True},
            "adminAccess",
            id="as it was written before",
        ),
        pytest.param(
            {"name": "a", "firstAvailable": [{"name": "x"}, {"name": "y", "adminAccess": True}]},
            "firstAvailable[1].adminAccess",
            id="in an alternative",
        ),
    ],
)
def test_a_template_that_asks_for_admin_access_is_refused(request_: Json, place: str) -> None:
    assert causes(judged(body(PLAIN, request_))) == [
        (
            f"{REQUESTS}[1].{place}",
            "Forbidden: the operator makes no claim with admin access; leave it out, or make the "
            "ResourceClaim yourself and name it in the pod spec",
        )
    ]


@pytest.mark.parametrize("value", [False, None, "true", 1, [True], {"adminAccess": True}])
def test_what_is_no_yes_asks_for_nothing(value: Any) -> None:
    exact = {"name": "a", "exactly": {"adminAccess": value}}
    alternative = {"name": "c", "firstAvailable": [{"adminAccess": value}]}
    assert fields(judged(body(exact, {"name": "b", "adminAccess": value}, alternative))) == []


@pytest.mark.parametrize(
    "request_",
    ["text", 7, None, [], {"exactly": True}, {"exactly": []}, {"firstAvailable": {"a": 1}}],
)
def test_a_request_that_is_none_is_left_to_the_server(request_: Any) -> None:
    assert fields(judged(body(request_))) == []


def test_a_set_that_was_stored_with_admin_access_may_be_scaled() -> None:
    asks = {"name": "a", "exactly": {"adminAccess": True}}
    assert fields(judged(body(asks, replicas=2), body(asks))) == []
