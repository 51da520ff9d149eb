# SPDX-License-Identifier: Apache-2.0
"""A choice of devices as a claim's status tells it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.scheduling.dra import Allocation, Result, Results
from trellis.embedded.scheduling.pods import NodeRequirement, NodeSelector, NodeTerm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.scheduling.devices.inventory import Candidate
    from trellis.embedded.scheduling.dra import Ask, Claim, DeviceClass


@dataclass(frozen=True, slots=True)
class Choice:
    """One device for one request, which is `name` or `name/alternative`."""

    request: str
    ask: Ask
    class_: DeviceClass
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Chosen:
    """All devices of one claim."""

    choices: tuple[Choice, ...]

    @property
    def classes(self) -> dict[str, DeviceClass]:
        """By request, in the order of the requests."""
        return {one.request: one.class_ for one in self.choices}


def allocation(claim: Claim, chosen: Chosen) -> Allocation:
    return Allocation(
        devices=Results(
            results=tuple(map(_result, chosen.choices)),
            config=(*_of_classes(chosen), *_of_claim(claim, chosen)),
        ),
        node_selector=_where(chosen),
    )


def _result(choice: Choice) -> Result:
    driver, pool, device = choice.candidate.id
    return Result(
        request=choice.request,
        driver=driver,
        pool=pool,
        device=device,
        admin_access=choice.ask.admin_access,
        tolerations=choice.ask.tolerations,
    )


def _of_classes(chosen: Chosen) -> Iterator[dict[str, Any]]:
    """What every class says of its devices, once, for all requests of that class."""
    requests: dict[str, list[str]] = {}
    classes: dict[str, DeviceClass] = {}
    for request, class_ in chosen.classes.items():
        requests.setdefault(class_.metadata.name, []).append(request)
        classes[class_.metadata.name] = class_
    for name, class_ in classes.items():
        for config in class_.spec.config:
            yield {**config, "source": "FromClass", "requests": requests[name]}


def _of_claim(claim: Claim, chosen: Chosen) -> Iterator[dict[str, Any]]:
    """What the claim says of devices, for all or for requests that were chosen."""
    met = {name for request in chosen.classes for name in (request, request.partition("/")[0])}
    for config in claim.spec.devices.config:
        named = config.get("requests", [])
        if not named or not met.isdisjoint(named):
            yield {**config, "source": "FromClaim"}


def _where(chosen: Chosen) -> NodeSelector | None:
    """The nodes from which all of the devices can be used."""
    fields: dict[NodeRequirement, None] = {}
    labels: dict[NodeRequirement, None] = {}
    for choice in chosen.choices:
        if name := choice.candidate.node_name:
            only = NodeRequirement(key="metadata.name", operator="In", values=(name,))
            return NodeSelector(node_selector_terms=(NodeTerm(match_fields=(only,)),))
        selector = choice.candidate.node_selector
        for term in selector.node_selector_terms if selector else ():
            fields |= dict.fromkeys(term.match_fields)
            labels |= dict.fromkeys(term.match_expressions)
    if not fields and not labels:
        return None
    term = NodeTerm(match_expressions=tuple(labels), match_fields=tuple(fields))
    return NodeSelector(node_selector_terms=(term,))
