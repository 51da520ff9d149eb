# SPDX-License-Identifier: Apache-2.0
"""What the rules of a schema may cost at most, estimated before any of them runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from trellis.embedded.fielderrors import FieldError, child, forbidden

EXPRESSION_LIMIT: Final = 10_000_000
SCHEMA_LIMIT: Final = 100_000_000
_MOST_NAMED = 4
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)
_CONTRIBUTED = (
    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
)
_TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
_LARGEST = (1 << 64) - 1


def excess(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = f"{factor:.1f}x"
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:  # one decimal place would say that it is 1.0x, which is no excess
        shown = f"{factor:f}x"
    return f"{what} exceeds budget by factor of {shown} {_ADVICE}"


@dataclass(slots=True)
class _Total:
    cost: int = 0
    dearest: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """How often a value can be at one place of the schema; None where there is no limit."""

    times: int | None = 1
    bounded: bool = True
    """Whether single rules are held to their limit: not those of a schema that did not change."""
    total: _Total = field(default_factory=_Total)

    def below(self, schema: dict[str, Any]) -> Costs:
        most = _elements(schema)
        if self.times is None or most is None:
            return replace(self, times=None)
        return replace(self, times=min(self.times * most, _LARGEST))

    def of(self, cost: int, cardinality: int) -> int:
        return min(cost * (cardinality if self.times is None else self.times), _LARGEST)

    def observe(self, path: str, cost: int) -> None:
        total = self.total
        total.cost = min(total.cost + cost, _LARGEST)
        if cost >= SCHEMA_LIMIT // 100:
            total.dearest.append((cost, path))
            total.dearest.sort(key=lambda each: -each[0])
            del total.dearest[_MOST_NAMED:]

    def too_much(self, path: str) -> list[FieldError]:
        if self.total.cost <= SCHEMA_LIMIT:
            return []
        errors = [forbidden(where, _CONTRIBUTED) for _, where in self.total.dearest]
        where = child(path, "openAPIV3Schema")
        return [*errors, forbidden(where, excess(_TOTAL, self.total.cost, SCHEMA_LIMIT))]


def _elements(schema: dict[str, Any]) -> int | None:
    kind = schema.get("type")
    if kind == "array":
        limit = schema.get("maxItems")
    elif kind == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    else:
        return 1
    return None if limit is None else max(limit, 0)
