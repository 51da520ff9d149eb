# SPDX-License-Identifier: Apache-2.0
"""What a field says about itself besides its type: its description, bounds, defaults and rules.

Marks stand in `Annotated` and are for schemas only. Decoding ignores them, so that an object which
an older schema let in can still be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule of a schema. `path` is where the API server says the fault is."""

    rule: str
    message: str
    path: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A description, the schema's own keywords (`minimum`, `default`, …) and rules."""

    description: str
    rules: tuple[Rule, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


def mark(description: str, /, *rules: Rule, **keywords: Any) -> Mark:
    return Mark(description, rules, keywords)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Raw JSON with the schema of one of Kubernetes' own types, or of a list of them.

    `longest` bounds strings that a rule of ours compares: without a bound, the API server takes the
    rule for too expensive.
    """

    definition: str
    listed: bool = False
    longest: tuple[tuple[str, int], ...] = ()


PodSpec = Annotated[
    msgspec.Raw, Embedded("io.k8s.api.core.v1.PodSpec", longest=(("schedulerName", 253),))
]
MetricSpecs = Annotated[msgspec.Raw, Embedded("io.k8s.api.autoscaling.v2.MetricSpec", listed=True)]
ClaimTemplateSpec = Annotated[
    msgspec.Raw, Embedded("io.k8s.api.resource.v1.ResourceClaimTemplateSpec")
]
