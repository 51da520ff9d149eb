# SPDX-License-Identifier: Apache-2.0
"""From the text of a fleet file to a fleet, or to all that is wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api import durations, quantity, strictyaml
from trellis.api.config.problems import Problem
from trellis.api.config.structure import structural_problems
from trellis.api.syntax import (
    dns_label_problem,
    dns_subdomain_problem,
    label_key_problem,
    label_value_problem,
)
from trellis.embedded.nodes.catalogue import MODELS
from trellis.embedded.nodes.expanding import expand, size
from trellis.embedded.nodes.fleet import NODES_LIMIT, Fleet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trellis.embedded.nodes.fleet import Fault, Gpu, Group, Machine

READY_MADE = ("tiny", "nvl72", "dgx-1k", "dgx-10k")

# Ten thousand nodes written out one by one are some ten megabytes.
_LIMITS = strictyaml.Limits(size=16 << 20, depth=16, values=4_000_000)
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{4}", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,2}", re.ASCII)
_PROFILE = re.compile(r"([1-7])g\.([0-9]{1,3})gb", re.ASCII)
_POD = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9][-a-z0-9.]{0,252}", re.ASCII)


class InvalidFleet(ValueError):
    """A fleet file that cannot be simulated. One line for each fault."""

    def __init__(self, problems: Sequence[Problem | str]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))


def ready_made(name: str) -> Fleet:
    """One of those that come with the package."""
    return load((files(__package__) / "fleets" / f"{name}.yaml").read_text())


def load(text: str) -> Fleet:
    """Raises InvalidFleet with every fault there is, not only the first."""
    try:
        document = strictyaml.load(text, _LIMITS)
    except strictyaml.InvalidYaml as error:
        raise InvalidFleet([str(error)]) from error
    if not isinstance(document, dict):
        what, remedy = "is not a fleet", "write a mapping with nodes: or groups:"
        raise InvalidFleet([Problem("", document, what, remedy)])
    problems: list[Problem] = [
        *structural_problems(_without_labels(document), Fleet),
        *_label_types(document),
    ]
    if problems:
        raise InvalidFleet(problems)
    try:
        fleet = msgspec.json.decode(msgspec.json.encode(_without_nulls(document)), type=Fleet)
    except msgspec.ValidationError as error:
        raise InvalidFleet([f"{error}; compare with the schema of fleet files"]) from error
    problems = list(_problems(fleet)) or list(_misplaced(fleet))
    if problems:
        raise InvalidFleet(problems)
    return fleet


def _problems(fleet: Fleet) -> Iterator[Problem]:
    total = size(fleet)
    if not total:
        yield Problem("", {}, "has no nodes", "add nodes: or groups:")
    elif total > NODES_LIMIT:
        yield Problem("groups", total, "are too many nodes", f"use at most {NODES_LIMIT}")
    yield from _repeated("nodes", [node.name for node in fleet.nodes])
    yield from _repeated("shapes", [shape.name for shape in fleet.shapes])
    yield from _repeated("groups", [group.name for group in fleet.groups])
    for index, node in enumerate(fleet.nodes):
        if problem := dns_subdomain_problem(node.name) or label_value_problem(node.name):
            yield Problem(f"nodes[{index}].name", node.name, problem, "choose another name")
        yield from _machine(f"nodes[{index}]", node)
    for index, shape in enumerate(fleet.shapes):
        yield from _machine(f"shapes[{index}]", shape)
    shapes = [shape.name for shape in fleet.shapes]
    for index, group in enumerate(fleet.groups):
        yield from _group(f"groups[{index}]", group, shapes)
    for index, fault in enumerate(fleet.faults):
        yield from _fault(f"faults[{index}]", fault)


def _group(path: str, group: Group, shapes: Sequence[str]) -> Iterator[Problem]:
    yield from _bad_name(f"{path}.name", group.name)
    if group.shape not in shapes:
        known = ", ".join(shapes) or "none is there yet"
        yield Problem(f"{path}.shape", group.shape, "is no shape", f"use one of shapes: {known}")
    if not group.zones:
        yield Problem(f"{path}.zones", [], "names no zone", "name one at least, or leave it out")
    yield from _repeated(f"{path}.zones", group.zones)
    for index, zone in enumerate(group.zones):
        if problem := label_value_problem(zone):
            yield Problem(f"{path}.zones[{index}]", zone, problem, "choose another name")
    if group.region and (problem := label_value_problem(group.region)):
        yield Problem(f"{path}.region", group.region, problem, "choose another name")
    yield from _labels(f"{path}.labels", group.labels)


def _machine(path: str, machine: Machine) -> Iterator[Problem]:
    yield from _labels(f"{path}.labels", machine.labels)
    yield from _amount(f"{path}.cpu", machine.cpu)
    yield from _amount(f"{path}.memory", machine.memory)
    yield from _repeated(f"{path}.gpus", [gpu.address for gpu in machine.gpus])
    if machine.driver:
        for name in ("version", "cuda"):
            value = getattr(machine.driver, name)
            if not _VERSION.fullmatch(value):
                remedy = "write up to three numbers with dots: 550.54.15"
                yield Problem(f"{path}.driver.{name}", value, "is no version", remedy)
    for index, gpu in enumerate(machine.gpus):
        yield from _gpu(f"{path}.gpus[{index}]", gpu)


def _gpu(path: str, gpu: Gpu) -> Iterator[Problem]:
    if not _ADDRESS.fullmatch(gpu.address):
        remedy = "write domain:bus:device.function in lower case: 0000:17:00.0"
        yield Problem(f"{path}.address", gpu.address, "is no PCI address", remedy)
    for name, value in (("device", gpu.device), ("class", gpu.class_)):
        if value and not _HEX.fullmatch(value):
            remedy = 'write four digits of hex in quotes: "20b2"'
            yield Problem(f"{path}.{name}", value, "is no PCI id", remedy)
    known = MODELS.get(gpu.model)
    if known is None and not gpu.memory:
        remedy = f"add memory: to it, or use one of {', '.join(MODELS)}"
        yield Problem(f"{path}.model", gpu.model, "is no known model", remedy)
    if gpu.memory:
        yield from _amount(f"{path}.memory", gpu.memory)
    yield from _mig(f"{path}.mig", gpu)


def _mig(path: str, gpu: Gpu) -> Iterator[Problem]:
    taken = 0
    for index, mig in enumerate(gpu.mig):
        match = _PROFILE.fullmatch(mig.profile)
        if match is None:
            remedy = "write it as NVIDIA does: 1g.10gb"
            yield Problem(f"{path}[{index}].profile", mig.profile, "is no MIG profile", remedy)
        else:
            taken += int(match[1]) * mig.count
    if taken > 7:
        yield Problem(path, taken, "slices are more than a card has", "use at most 7 in all")
    known = MODELS.get(gpu.model)
    if gpu.mig and (known is None or not known.slices):
        yield Problem(path, gpu.model, "cannot be cut into slices", "remove mig:")


def _fault(path: str, fault: Fault) -> Iterator[Problem]:
    try:
        if durations.parse(fault.at) < 0:
            raise durations.InvalidDuration(fault.at)
    except durations.InvalidDuration:
        yield Problem(f"{path}.at", fault.at, "is no time from the start", "write it like 120s")
    if bool(fault.node) == bool(fault.pod):
        yield Problem(path, fault.node or fault.pod, "names not one place", "give node: or pod:")
    if fault.pod and fault.gpu:
        yield Problem(f"{path}.gpu", fault.gpu, "is no card of a pod", "give node: with gpu:")
    if fault.pod and not _POD.fullmatch(fault.pod):
        yield Problem(f"{path}.pod", fault.pod, "is no pod", "write it as namespace/name")
    on_card, on_node = fault.xid or fault.removed, fault.vanish or fault.slow_images or fault.dcgm
    on_pod = fault.crash or fault.oom
    fitting = on_pod if fault.pod else on_card if fault.gpu else on_node
    if not fitting:
        remedy = (
            "a pod's is crash or oom; a card's (gpu:) is xid or removed;"
            " a node's is vanish, slowImages or dcgm"
        )
        yield Problem(path, fault.at, "says nothing that can go wrong there", remedy)


def _without_nulls(value: Any) -> Any:
    """Keys without a value are as good as left out, as in any manifest."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _without_labels(value: Any) -> Any:
    """The check of the structure knows no maps with keys of anybody's choosing."""
    if isinstance(value, dict):
        return {key: _without_labels(inner) for key, inner in value.items() if key != "labels"}
    return [_without_labels(inner) for inner in value] if isinstance(value, list) else value


def _label_types(document: dict[str, Any]) -> Iterator[Problem]:
    for section in ("nodes", "shapes", "groups"):
        entries = document.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            labels = entry.get("labels") if isinstance(entry, dict) else None
            path = f"{section}[{index}].labels"
            if labels is not None and not isinstance(labels, dict):
                yield Problem(path, labels, "is not a mapping", "write key: value")
                continue
            for key, value in (labels or {}).items():
                if not isinstance(value, str):
                    yield Problem(f"{path}.{key}", value, "is not a string", "put it in quotes")


def _misplaced(fleet: Fleet) -> Iterator[Problem]:
    """Faults of nodes and cards that are not there."""
    plans = {plan.name: plan for plan in expand(fleet)} if fleet.faults else {}
    for index, fault in enumerate(fleet.faults):
        if fault.node and fault.node not in plans:
            remedy = "name a node of this fleet"
            yield Problem(f"faults[{index}].node", fault.node, "is no node", remedy)
        elif fault.gpu:
            cards = [gpu.address for gpu in plans[fault.node].machine.gpus]
            if fault.gpu not in cards:
                remedy = f"the node has {', '.join(cards) or 'none'}"
                yield Problem(f"faults[{index}].gpu", fault.gpu, "is no card there", remedy)


def _labels(path: str, labels: Mapping[str, str]) -> Iterator[Problem]:
    for key, value in labels.items():
        if problem := label_key_problem(key):
            yield Problem(f"{path}.{key}", key, problem, "choose another key")
        elif problem := label_value_problem(value):
            yield Problem(f"{path}.{key}", value, problem, "choose another value")


def _amount(path: str, value: str) -> Iterator[Problem]:
    try:
        quantity.parse(value)
    except quantity.InvalidQuantity:
        yield Problem(path, value, "is no quantity", "write it like 64, 500m or 512Gi")


def _bad_name(path: str, name: str) -> Iterator[Problem]:
    if problem := dns_label_problem(name):
        yield Problem(path, name, problem, "choose another name")


def _repeated(path: str, names: Iterable[str]) -> Iterator[Problem]:
    for name, times in Counter(names).items():
        if times > 1:
            yield Problem(path, name, f"is there {times} times", "give each its own")
