# SPDX-License-Identifier: Apache-2.0
"""ResourceSlices as NVIDIA's DRA driver publishes them: the cards of a node and their parts. Pure.

Devices keep their names when others go. Cards that are removed or failed are not listed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from trellis.embedded.nodes import chance
from trellis.embedded.nodes.catalogue import model
from trellis.embedded.nodes.faults import NodeState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.nodes.catalogue import Model
    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.fleet import Driver, Gpu, Mig

GPUS = "gpu.nvidia.com"
COMPUTE_DOMAINS = "compute-domain.nvidia.com"
_WELL = NodeState()
_CARD_SLICES = 7
_MEMORY_SLICES = 8

Json = dict[str, Any]


def drivers(plan: NodePlan) -> tuple[str, ...]:
    """Whose slices the node has. A node without a driver has none: nobody could see the cards."""
    publish = plan.machine.publish
    if not plan.machine.gpus or plan.machine.driver is None:
        return ()
    cards = (GPUS,) if publish.slices else ()
    return (*cards, COMPUTE_DOMAINS) if publish.compute_domains else cards


def devices(plan: NodePlan, driver: str, state: NodeState = _WELL) -> list[Json]:
    if driver == COMPUTE_DOMAINS:
        return [
            {"name": f"{type_}-0", "attributes": {"type": {"string": type_}, "id": {"int": 0}}}
            for type_ in ("channel", "daemon")
        ]
    installed = plan.machine.driver
    if installed is None:
        return []
    return [
        device
        for index, gpu in enumerate(plan.machine.gpus)
        if state.card(gpu.address).healthy
        for device in _card(plan, installed, index, gpu)
    ]


def slice_name(plan: NodePlan, driver: str) -> str:
    return f"{plan.name}-{driver}"


def spec(plan: NodePlan, driver: str, found: list[Json], generation: int) -> Json:
    return {
        "driver": driver,
        "nodeName": plan.name,
        "pool": {"name": plan.name, "generation": generation, "resourceSliceCount": 1},
        "devices": found,
    }


def in_version(spec: Json, version: str) -> Json:
    """The spec as that version of the API writes it: the first one nests what a device has."""
    if version != "v1beta1":
        return spec
    nested = [
        {"name": one["name"], "basic": {key: one[key] for key in one if key != "name"}}
        for one in spec["devices"]
    ]
    return {**spec, "devices": nested}


def _card(plan: NodePlan, driver: Driver, index: int, gpu: Gpu) -> Iterator[Json]:
    known = model(gpu.model, gpu.memory, gpu.device)
    common = _common(known, driver) | {
        "resource.kubernetes.io/pciBusID": {"string": gpu.address},
        "resource.kubernetes.io/pcieRoot": {"string": _root(gpu.address)},
    }
    uuid = plan.uuid(gpu)
    if not gpu.mig:
        own = {"type": {"string": "gpu"}, "uuid": {"string": uuid}}
        memory = {"memory": {"value": gpu.memory or known.memory}}
        yield {"name": f"gpu-{index}", "attributes": common | own, "capacity": memory}
        return
    start = 0
    for profile in [mig for mig in gpu.mig for _ in range(mig.count)]:
        cores, gigabytes, width = _parts(profile, known.memory)
        identity = chance.uuid(plan.seed, uuid, profile.profile, str(start))
        own = {
            "type": {"string": "mig"},
            "profile": {"string": profile.profile},
            "parentUUID": {"string": uuid},
            "uuid": {"string": f"MIG-{identity}"},
        }
        multiprocessors = known.multiprocessors * cores // _CARD_SLICES
        taken = {f"memorySlice{at}": {"value": "1"} for at in range(start, start + width)}
        yield {
            "name": f"gpu-{index}-mig-{profile.profile.replace('.', '')}-{start}",
            "attributes": common | own,
            "capacity": {
                "memory": {"value": f"{gigabytes}Gi"},
                "multiprocessors": {"value": str(multiprocessors)},
                **taken,
            },
        }
        start += width


# A fleet has thousands of cards and few kinds of them.
@cache
def _common(known: Model, driver: Driver) -> Json:
    return {
        "addressingMode": {"string": "HMM"},
        "architecture": {"string": known.architecture},
        "brand": {"string": "Nvidia"},
        "cudaComputeCapability": {"version": known.compute},
        "cudaDriverVersion": {"version": _semantic(driver.cuda)},
        "driverVersion": {"version": _semantic(driver.version)},
        "productName": {"string": known.product},
    }


def _parts(mig: Mig, memory: str) -> tuple[int, int, int]:
    """Of a profile: its share of the cores, its gigabytes, and how many memory slices those are."""
    cores, _, gigabytes = mig.profile.partition("g.")
    size = int(gigabytes.removesuffix("gb"))
    of_all = size * 1024 / int(memory.removesuffix("Mi"))
    return int(cores), size, min(_MEMORY_SLICES, max(1, round(of_all * _MEMORY_SLICES)))


def _semantic(version: str) -> str:
    """Three numbers, none with a leading zero, as the API wants versions."""
    numbers = [str(int(part)) for part in version.split(".")]
    return ".".join([*numbers, "0", "0"][:3])


def _root(address: str) -> str:
    """The root that the card hangs under: each has its own, as each has its own switch."""
    domain, bus, _ = address.split(":")
    return f"pci{domain}:{max(0, int(bus, 16) - 1):02x}"
