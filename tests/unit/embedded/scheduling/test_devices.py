# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from tests.unit.embedded.scheduling.builders import (
    DRIVER,
    claim,
    device,
    device_class,
    exactly,
    node,
    selecting,
    slice_,
    world,
)
from trellis.embedded.scheduling.devices.inventory import Inventory
from trellis.embedded.scheduling.devices.search import Plan
from trellis.embedded.scheduling.devices.selecting import ClaimBroken

if TYPE_CHECKING:
    from trellis.embedded.scheduling.dra import Claim, Slice
    from trellis.embedded.scheduling.rooms import Room


def room(name: str = "n", **labels: str) -> Room:
    found = world(node(name, labels)).room(name)
    assert found is not None
    return found


def stocked(*slices: Slice) -> Inventory:
    inventory = Inventory()
    for one in slices:
        inventory.put(one)
    return inventory


FOUR = slice_("n", *(device(f"g{number}", numa=number % 2, slot=number) for number in range(4)))


def given_of(slices: tuple[Slice, ...], *claims: Claim, taken: tuple[str, ...] = ()) -> Any:
    """The names of the devices of each claim, or None."""
    stock = stocked(*slices).stock(room())
    used = {(DRIVER, "n", name): 1 for name in taken}
    found = Plan(claims, {"gpu": device_class()}).allocate(stock, used)
    return found and [[one.device for one in each.devices.results] for each in found]


NUMA = {"constraints": [{"matchAttribute": f"{DRIVER}/numa"}]}
APART = {"constraints": [{"distinctAttribute": f"{DRIVER}/numa"}]}
ODD = selecting(f'device.attributes["{DRIVER}"].numa == 1')
HUGE = {"name": "huge", "deviceClassName": "gpu", "count": 9}
TWO = {"name": "two", "deviceClassName": "gpu", "count": 2}


@pytest.mark.parametrize(
    ("claims", "taken", "expected"),
    [
        pytest.param([claim("a", exactly())], (), [["g0"]], id="the-first"),
        pytest.param([claim("a", exactly())], ("g0",), [["g1"]], id="the-first-that-is-free"),
        pytest.param([claim("a", exactly(count=5))], (), None, id="more-than-there-are"),
        pytest.param([claim("a", exactly(**ODD))], (), [["g1"]], id="by-a-selector"),
        pytest.param([claim("a", exactly(count=2, **ODD))], ("g1",), None, id="too-few-selected"),
        pytest.param(
            [claim("a", exactly(count=2), **NUMA)], (), [["g0", "g2"]], id="alike-in-an-attribute"
        ),
        pytest.param(
            [claim("a", exactly(count=2), **NUMA)], ("g0",), [["g1", "g3"]], id="tries-on-if-alike"
        ),
        pytest.param(
            [claim("a", exactly(count=2), **APART)], ("g1",), [["g0", "g3"]], id="all-different"
        ),
        pytest.param([claim("a", exactly(count=3), **APART)], (), None, id="too-few-different"),
        pytest.param(
            [claim("a", exactly("x"), exactly("y", **ODD), **NUMA)],
            (),
            [["g1", "g3"]],
            id="a-later-request-makes-an-earlier-one-try-again",
        ),
        pytest.param(
            [claim("a", exactly()), claim("b", exactly())], (), [["g0"], ["g1"]], id="two-claims"
        ),
        pytest.param(
            [claim("a", exactly(allocationMode="All"))],
            (),
            [["g0", "g1", "g2", "g3"]],
            id="all-devices",
        ),
        pytest.param(
            [claim("a", exactly(allocationMode="All"))], ("g2",), None, id="all-but-one-is-not-all"
        ),
        pytest.param(
            [claim("a", exactly(allocationMode="All", adminAccess=True))],
            ("g2",),
            [["g0", "g1", "g2", "g3"]],
            id="administrators-share",
        ),
        pytest.param(
            [claim("a", {"name": "r", "firstAvailable": [HUGE, TWO]})],
            (),
            [["g0", "g1"]],
            id="the-first-alternative-that-can-be-had",
        ),
    ],
)
def test_claims_get(claims: list[Claim], taken: tuple[str, ...], expected: Any) -> None:
    assert given_of((FOUR,), *claims, taken=taken) == expected


def test_a_tainted_device_is_given_to_who_tolerates_it() -> None:
    bad = device("g0") | {"taints": [{"key": "xid", "effect": "NoExecute"}]}
    slices = (slice_("n", bad, device("g1")),)
    tolerant = exactly(tolerations=[{"key": "xid", "operator": "Exists"}])
    assert given_of(slices, claim("a", exactly())) == [["g1"]]
    assert given_of(slices, claim("a", tolerant)) == [["g0"]]


def test_no_more_than_32_devices_go_into_one_claim() -> None:
    many = (slice_("n", *(device(f"g{number}") for number in range(40))),)
    assert given_of(many, claim("a", exactly(count=32))) is not None
    two = claim("a", exactly("x", count=20), exactly("y", count=20))
    with pytest.raises(ClaimBroken, match="devices 40 exceeds the claim limit of 32"):
        given_of(many, two)
    every = claim("a", exactly("x"), exactly("y", allocationMode="All"))
    assert given_of(many, every) is None


def test_one_device_too_few_is_found_out_without_trying_every_set() -> None:
    many = (slice_("n", *(device(f"g{number}") for number in range(31))),)
    assert given_of(many, claim("a", exactly(count=32))) is None


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([FOUR], 4, id="complete"),
        pytest.param(
            [slice_("n", device("a"), pool={"resourceSliceCount": 2})], 0, id="a-slice-is-missing"
        ),
        pytest.param(
            [
                slice_("n", device("a")),
                slice_("n", device("b"), name="new", pool={"generation": 2}),
            ],
            1,
            id="the-newest-generation",
        ),
        pytest.param(
            [
                slice_("n", device("a")),
                slice_(
                    "n",
                    device("b"),
                    name="new",
                    pool={"generation": 2, "resourceSliceCount": 2},
                ),
            ],
            0,
            id="a-new-generation-ends-the-old-one-before-it-is-complete",
        ),
        pytest.param([slice_("other", device("a"))], 0, id="of-another-node"),
        pytest.param([slice_("p", device("a"), allNodes=True)], 1, id="of-all-nodes"),
        pytest.param(
            [
                slice_(
                    "p",
                    device("a") | {"nodeName": "n"},
                    device("b") | {"nodeName": "other"},
                    perDeviceNodeSelection=True,
                )
            ],
            1,
            id="each-device-of-its-own-node",
        ),
        pytest.param([slice_("n", device("a"), device("a"))], 0, id="the-same-name-twice"),
    ],
)
def test_a_node_can_use_so_many_devices(slices: list[Slice], expected: int) -> None:
    assert len(stocked(*slices).stock(room()).candidates) == expected


def test_what_can_be_used_follows_slices_and_nodes() -> None:
    terms = [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]
    shared = slice_("p", device("a"), nodeSelector={"nodeSelectorTerms": terms})
    inventory = stocked(shared)
    assert len(inventory.stock(room(rack="r1")).candidates) == 1
    inventory.forget("n")
    assert not inventory.stock(room(rack="r2")).candidates
    inventory.put(FOUR)
    assert len(inventory.stock(room(rack="r2")).candidates) == 4
    inventory.remove(FOUR)
    inventory.remove(shared)
    assert not inventory.stock(room(rack="r1")).candidates


def test_all_devices_of_a_pool_that_is_being_published_cannot_be_had() -> None:
    half = slice_("n", device("a"), pool={"resourceSliceCount": 2})
    with pytest.raises(ClaimBroken, match="n is currently being updated"):
        given_of((half,), claim("a", exactly(allocationMode="All")))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        pytest.param("device.nonsense == 1", "claim ns/a: selector #0: CEL compile", id="compile"),
        pytest.param(
            'device.attributes["x.y"].z == 1', "claim ns/a: selector #0: CEL runtime", id="runtime"
        ),
    ],
)
def test_a_selector_that_fails_is_told(expression: str, message: str) -> None:
    with pytest.raises(ClaimBroken, match=message):
        given_of((FOUR,), claim("a", exactly(**selecting(expression))))


def test_an_allocation_has_the_configuration_of_classes_and_claim() -> None:
    opaque = {"opaque": {"driver": DRIVER, "parameters": {"mode": "fast"}}}
    class_ = device_class("gpu", config=[opaque])
    asked = claim(
        "a",
        exactly("x"),
        exactly("y", adminAccess=True),
        {"name": "z", "firstAvailable": [HUGE, TWO]},
        config=[{**opaque, "requests": ["z/two"]}, {**opaque, "requests": ["z/huge"]}, opaque],
    )
    stock = stocked(FOUR).stock(room())
    found = Plan([asked], {"gpu": class_}).allocate(stock, {})
    assert found is not None
    told = to_builtins(found[0])
    assert [(one["source"], one.get("requests")) for one in told["devices"]["config"]] == [
        ("FromClass", ["x", "y", "z/two"]),
        ("FromClaim", ["z/two"]),
        ("FromClaim", None),
    ]
    assert [one["request"] for one in told["devices"]["results"]] == ["x", "y", "z/two", "z/two"]
    assert told["devices"]["results"][1]["adminAccess"] is True
    field = told["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]
    assert (field["key"], field["values"]) == ("metadata.name", ("n",))


def test_devices_for_all_nodes_bind_no_claim_to_one() -> None:
    stock = stocked(slice_("p", device("a"), allNodes=True)).stock(room())
    found = Plan([claim("a", exactly())], {"gpu": device_class()}).allocate(stock, {})
    assert found is not None
    assert found[0].node_selector is None


@given(
    numas=st.lists(st.integers(0, 2), min_size=1, max_size=6),
    taken=st.sets(st.integers(0, 5)),
    count=st.integers(1, 4),
)
def test_the_search_finds_what_can_be_found(numas: list[int], taken: set[int], count: int) -> None:
    """Against trying every set of devices."""
    slices = (slice_("n", *(device(f"g{place}", numa=numa) for place, numa in enumerate(numas))),)
    names = tuple(f"g{place}" for place in taken)
    found = given_of(slices, claim("a", exactly(count=count), **NUMA), taken=names)
    free = [place for place in range(len(numas)) if place not in taken]
    alike = [some for some in combinations(free, count) if len({numas[one] for one in some}) == 1]
    assert found == ([[f"g{place}" for place in alike[0]]] if alike else None)
