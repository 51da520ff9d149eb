# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.scheduling.builders import DRIVER, claim, exactly, pod
from trellis.embedded.scheduling.claims import Claimed, Claims, Unclaimed, claimed
from trellis.embedded.scheduling.dra import Allocation, Result, Results

DEVICE = (DRIVER, "n", "g0")
GIVEN = Allocation(
    devices=Results(results=(Result(request="gpu", driver=DRIVER, pool="n", device="g0"),))
)
ALLOCATED = {
    "allocation": {
        "devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": "n", "device": "g0"}]}
    }
}


def test_a_promised_device_is_taken_until_the_promise_is_settled() -> None:
    claims, one = Claims(), claim("a", exactly())
    claims.put(one)
    claims.promise(one, GIVEN)
    assert DEVICE in claims.taken
    claims.put(claim("a", exactly(), version="2"))
    assert DEVICE in claims.taken
    claims.settle(one)
    assert DEVICE not in claims.taken


def test_a_written_device_stays_taken_when_older_news_come() -> None:
    claims = Claims()
    claims.put(claim("a", exactly(), version="9", status=ALLOCATED))
    claims.put(claim("a", exactly(), version="5"))
    assert DEVICE in claims.taken
    claims.put(claim("a", exactly(), version="10"))
    assert DEVICE not in claims.taken


def test_devices_of_a_claim_that_is_gone_are_free() -> None:
    claims, one = Claims(), claim("a", exactly(), status=ALLOCATED)
    claims.put(one)
    claims.remove(one)
    assert DEVICE not in claims.taken
    claims.put(one)
    claims.put(claim("a", exactly(), metadata={"uid": "another"}))
    assert DEVICE not in claims.taken


def test_a_device_for_administration_is_not_taken() -> None:
    claims = Claims()
    status = {
        "allocation": {
            "devices": {
                "results": [
                    {**ALLOCATED["allocation"]["devices"]["results"][0], "adminAccess": True}
                ]
            }
        }
    }
    claims.put(claim("a", exactly(), status=status))
    assert not claims.taken


USES = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "a"}]}
TEMPLATE: dict[str, Any] = {"resourceClaims": [{"name": "gpu"}]}
NAMED = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "a"}]}
OWNED = {
    "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    ]
}
OTHERS = [{"resource": "pods", "name": f"p{n}", "uid": f"u{n}"} for n in range(256)]


@pytest.mark.parametrize(
    ("spec", "made", "expected"),
    [
        pytest.param(USES, None, "silent", id="not-made-yet"),
        pytest.param(USES, {}, "open", id="without-devices"),
        pytest.param(USES, {"status": ALLOCATED}, "allocated", id="with-devices"),
        pytest.param(
            USES, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "silent", id="going"
        ),
        pytest.param(TEMPLATE, {"metadata": OWNED}, "silent", id="from-a-template-not-told-yet"),
        pytest.param(TEMPLATE | {"status": NAMED}, {"metadata": OWNED}, "open", id="its-own"),
        pytest.param(TEMPLATE | {"status": NAMED}, {}, "silent", id="made-for-another"),
        pytest.param(
            TEMPLATE | {"status": {"resourceClaimStatuses": [{"name": "gpu"}]}},
            None,
            "none",
            id="a-template-that-makes-no-claim",
        ),
        pytest.param(
            USES, {"status": {**ALLOCATED, "reservedFor": OTHERS}}, "told", id="used-by-too-many"
        ),
        pytest.param(
            USES,
            {"status": {**ALLOCATED, "reservedFor": [*OTHERS[1:], {"name": "p", "uid": "uid-p"}]}},
            "allocated",
            id="used-by-many-and-itself",
        ),
    ],
)
def test_the_claims_of_a_pod_are(spec: Any, made: Any, expected: str) -> None:
    claims = Claims()
    if made is not None:
        claims.put(claim("a", exactly(), **made))
    found = claimed(pod("p", **spec), claims)
    match found:
        case Unclaimed(silent=True):
            assert expected == "silent"
        case Unclaimed():
            assert expected == "told"
        case Claimed(open=[_]):
            assert expected == "open"
        case Claimed(allocated=[_]):
            assert expected == "allocated"
        case _:
            assert expected == "none"


def test_a_claim_that_is_being_allocated_for_another_pod_is_waited_for() -> None:
    claims, one = Claims(), claim("a", exactly())
    claims.put(one)
    claims.promise(one, GIVEN)
    found = claimed(pod("p", **USES), claims)
    assert isinstance(found, Unclaimed)
    assert found.silent
