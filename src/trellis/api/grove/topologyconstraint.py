# SPDX-License-Identifier: Apache-2.0
"""How close together the pods of a replica must, or should, be placed."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from trellis.api.meta import Value
from trellis.api.schema.marks import Rule, mark

# Any name that a topology may give a level; which names exist is for admission to know.
DOMAIN: dict[str, Any] = {"minLength": 1, "maxLength": 63, "pattern": "^[a-z][a-z0-9-]*$"}


class TopologyPack(Value, frozen=True, kw_only=True):
    """The levels of the topology within which each replica is packed."""

    validations: ClassVar = (
        Rule(
            "has(self.required) || has(self.preferred)",
            "pack must specify at least one of required or preferred",
            reason="FieldValueRequired",
        ),
    )

    required: Annotated[
        str,
        mark(
            "The level within one domain of which each replica must fit, such as rack. "
            "A replica that does not fit waits.",
            **DOMAIN,
        ),
    ] = ""
    preferred: Annotated[
        str,
        mark(
            "The level to pack into as far as possible, such as host. Never a reason to wait.",
            **DOMAIN,
        ),
    ] = ""


class TopologyConstraint(Value, frozen=True, kw_only=True):
    """Placement of each replica on its own: two replicas may be in different racks."""

    validations: ClassVar = (
        Rule(
            "has(self.pack) || has(self.packDomain)",
            "topologyConstraint must specify pack or deprecated packDomain",
            path=".pack",
            reason="FieldValueRequired",
        ),
        Rule(
            "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))",
            "must not set both pack.required and deprecated packDomain",
            path=".pack.required",
        ),
    )

    topology_name: Annotated[
        str,
        mark(
            "The topology whose levels are meant. Inherited from the set or group above; "
            "grove-topology where none is named.",
            maxLength=253,
        ),
    ] = ""
    pack: Annotated[TopologyPack | None, mark("Within which levels to pack each replica.")] = None
    pack_domain: Annotated[
        str,
        mark(
            "The level within one domain of which each replica must fit: "
            "the short form of pack.required.",
            **DOMAIN,
        ),
    ] = ""

    @property
    def required(self) -> str:
        """The level that must hold, in whichever of the two forms it was written."""
        return (self.pack.required if self.pack else "") or self.pack_domain

    @property
    def preferred(self) -> str:
        return self.pack.preferred if self.pack else ""
