# SPDX-License-Identifier: Apache-2.0
"""Dynamic resource allocation: device classes and resource slices."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.conformance.probe import Probe
from tests.conformance.probe import probe as any_probe

# The first minor that serves this version.
probe = partial(any_probe, since=34)
RESOURCE = "resource.k8s.io/v1"
CLASSES, SLICES = "deviceclasses", "resourceslices"
DRIVER = "gpu.example.com"
DEVICE: dict[str, Any] = {"name": "gpu-0"}
OTHER_UID = "00000000-0000-4000-8000-000000000001"


async def _create(p: Probe, resource: str, spec: dict[str, Any]) -> None:
    """Sees a creation; what was made goes when the probe ends."""
    name = f"probe-{p.id}"
    p.cleanup.push_async_callback(p.ask, "DELETE", p.everywhere(RESOURCE, resource, name))
    body = {"metadata": {"name": name}, "spec": spec}
    await p.see("POST", p.everywhere(RESOURCE, resource), body)


def _class(title: str, **spec: Any) -> None:
    @probe(title)
    async def created(p: Probe) -> None:
        await _create(p, CLASSES, spec)


def _selectors(*expressions: str) -> list[dict[str, Any]]:
    return [{"cel": {"expression": expression}} for expression in expressions]


_class("a device class may be empty")
_class(
    "a device class keeps selectors and configuration",
    selectors=_selectors(f"device.driver == '{DRIVER}'"),
    config=[{"opaque": {"driver": DRIVER, "parameters": {"a": {"b": 1}}}}],
)
for _title, _expression in [
    (
        "a selector may ask for attributes and capacity of a device",
        f"device.attributes['{DRIVER}'].model.startsWith('h') && "
        f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0",
    ),
    (
        "a selector may ask whether an attribute is there, and compare versions",
        f"'family' in device.attributes['{DRIVER}'] && "
        f"device.attributes['{DRIVER}'].version.isGreaterThan(semver('1.2.3'))",
    ),
    ("a selector that does not parse is refused", "device.driver =="),
    ("a selector of an unknown function is refused", "isGood(device)"),
    ("a selector that is no boolean is refused", "1"),
    ("a selector of an unknown field is refused", "device.size == 1"),
    ("a selector without an expression is refused", ""),
    ("a selector of more than 10240 characters is refused", "true" + " || true" * 1300),
    (
        "a selector that costs too much is refused",
        "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, "
        "[1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, "
        "device.driver.contains('x')))))))",
    ),
]:
    _class(_title, selectors=_selectors(_expression))
_class(
    "a device class with more than 32 selectors is refused", selectors=_selectors(*["true"] * 33)
)
_class(
    "a device class with a bad extended resource name is refused",
    extendedResourceName="not a name",
)


@probe("a device class may change, and counts generations")
async def class_changed(p: Probe) -> None:
    name = f"probe-{p.id}"
    await _create(p, CLASSES, {})
    path = p.everywhere(RESOURCE, CLASSES, name)
    await p.see("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, patch="merge")
    await p.see("PATCH", path, {"spec": {"selectors": _selectors("true")}}, patch="merge")
    await p.see("DELETE", path)


def _slice(title: str, *devices: dict[str, Any], **changes: Any) -> None:
    """A probe of a slice; a change to None leaves a field out."""

    @probe(title)
    async def created(p: Probe) -> None:
        whole = {
            "driver": DRIVER,
            "pool": {"name": f"pool-{p.id}", "generation": 1, "resourceSliceCount": 1},
            "nodeName": f"node-{p.id}",
            "devices": list(devices or (DEVICE,)),
            **changes,
        }
        spec = {key: value for key, value in whole.items() if value is not None}
        await _create(p, SLICES, spec)


_slice("a slice of a node comes back with generation 1")
_slice(
    "a slice keeps attributes, capacity and taints of its devices",
    {
        "name": "gpu-0",
        "attributes": {
            "model": {"string": "h100"},
            "index": {"int": 0},
            "shared": {"bool": False},
            "example.com/version": {"version": "1.2.3"},
        },
        "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": "1000m"}},
        "taints": [{"key": "example.com/broken", "effect": "NoExecute"}],
    },
)
for _title, _device in [
    ("a device without a name is refused", {}),
    ("a device with a bad name is refused", {"name": "Not A Name"}),
    ("an attribute without a value is refused", {**DEVICE, "attributes": {"a": {}}}),
    (
        "an attribute with two values is refused",
        {**DEVICE, "attributes": {"a": {"int": 1, "string": "1"}}},
    ),
    (
        "an attribute with a bad name is refused",
        {**DEVICE, "attributes": {"not a name": {"int": 1}, "a.b/": {"int": 1}}},
    ),
    (
        "an attribute that is no semantic version is refused",
        {**DEVICE, "attributes": {"a": {"version": "1.2"}}},
    ),
    (
        "an attribute of more than 64 characters is refused",
        {**DEVICE, "attributes": {"a": {"string": "x" * 65}}},
    ),
    (
        "a device with more than 32 attributes and capacities is refused",
        {**DEVICE, "attributes": {f"a{number}": {"int": 1} for number in range(33)}},
    ),
    (
        "a taint without key and effect is refused",
        {**DEVICE, "taints": [{"value": "x"}]},
    ),
    ("a capacity that is no quantity is refused", {**DEVICE, "capacity": {"a": {"value": "x"}}}),
]:
    _slice(_title, _device)
_slice("devices of one name are refused", DEVICE, DEVICE)
_slice("a slice of more than 128 devices is refused", *({"name": f"g{n}"} for n in range(129)))
_SLICES: list[tuple[str, dict[str, Any]]] = [
    ("a slice without a driver is refused", {"driver": None}),
    ("a slice with a bad driver is refused", {"driver": "Not A Driver"}),
    ("a slice for nobody is refused", {"nodeName": None}),
    ("a slice for a node and for all is refused", {"allNodes": True}),
    ("a slice for all nodes is accepted", {"nodeName": None, "allNodes": True}),
    (
        "a slice for nodes by selector is accepted",
        {
            "nodeName": None,
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["a"]}]}
                ]
            },
        },
    ),
    (
        "a slice for nodes by a selector of two terms is refused",
        {
            "nodeName": None,
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "rack", "operator": "Exists"}]},
                    {"matchExpressions": [{"key": "row", "operator": "Exists"}]},
                ]
            },
        },
    ),
    ("a slice without a pool is refused", {"pool": None}),
    (
        "a slice of a pool of no slices and a negative generation is refused",
        {"pool": {"name": "a", "generation": -1, "resourceSliceCount": 0}},
    ),
    ("a slice without devices is accepted", {"devices": None}),
]
for _title, _changes in _SLICES:
    _slice(_title, **_changes)


@probe("a slice's devices may change, its driver, pool and node may not")
async def slice_changed(p: Probe) -> None:
    pool = {"name": f"pool-{p.id}", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": f"node-{p.id}", "devices": [DEVICE]}
    await _create(p, SLICES, spec)
    path = p.everywhere(RESOURCE, SLICES, f"probe-{p.id}")
    for patch in (
        {"devices": [{"name": "gpu-1"}], "pool": {"generation": 2}},
        {"driver": "other.example.com"},
        {"pool": {"name": "other"}},
        {"nodeName": "other"},
    ):
        await p.see("PATCH", path, {"spec": patch}, patch="merge")
