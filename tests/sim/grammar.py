# SPDX-License-Identifier: Apache-2.0
"""What a user can do to a set, read off the schema of our own definition: every field is set,
unset, and its keys are taken out. What admission refuses is as good a deed as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.sim.ground import PRIORITY, definitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

Schema = dict[str, Any]

ENTRIES = "[]"
"""In a path: the entries of a list that have names."""
# Topology has a controller of its own, which is not in these stories; claims need a driver.
_LEFT_OUT = frozenset(
    {
        "topologyConstraint",
        "resourceSharing",
        "resourceClaimTemplates",
        "podSpec",
        "metrics",
        "startsAfter",
        "cliqueNames",
        "name",
    }
)
_NUMBERS = (0, 1, 1, 2, 2, 3, -1)
_DURATIONS = ("8s", "20s", "4h")
_WORDS = (PRIORITY, "")
_DELAYS = "terminationDelay"


@dataclass(frozen=True, slots=True)
class Field:
    """One field below `spec`, and what it holds."""

    path: tuple[str, ...]
    schema_type: str
    choices: tuple[str, ...] = ()

    def drawn(self, rng: Random) -> Any:
        """A value for it, or None to take it out."""
        if rng.random() < 0.15:
            return None
        if self.choices:
            return rng.choice(self.choices)
        if self.schema_type == "integer":
            return rng.choice(_NUMBERS)
        if self.schema_type == "boolean":
            return rng.random() < 0.5
        if self.schema_type == "object":
            return {f"example.com/{rng.choice('ab')}": rng.choice(("1", "2", None))}
        return rng.choice(_DURATIONS if self.path[-1] == _DELAYS else _WORDS)


@cache
def fields() -> tuple[Field, ...]:
    """Every field of a set's spec that stories may change, in the order of the schema."""
    sets = next(one for one in definitions() if one["spec"]["names"]["plural"] == "podcliquesets")
    schema = sets["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return tuple(_walk(schema["properties"]["spec"], ()))


def _walk(schema: Schema, path: tuple[str, ...]) -> Iterator[Field]:
    for name, inner in schema.get("properties", {}).items():
        if name in _LEFT_OUT:
            continue
        here = (*path, name)
        kind = inner.get("type", "string")
        if kind == "array":
            if inner.get("items", {}).get("properties"):
                yield from _walk(inner["items"], (*here, ENTRIES))
        elif inner.get("properties"):
            yield from _walk(inner, here)
        else:
            yield Field(here, kind, tuple(inner.get("enum", ())))


def nested(path: tuple[str, ...], value: Any) -> Any:
    """A patch that sets that field."""
    for name in reversed(path):
        value = {name: value}
    return value
