# SPDX-License-Identifier: Apache-2.0
"""Values of a schema, drawn from few so that they meet, now and then wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

WORDS = ("u", "v", "w", "")
NUMBERS = (0, 1, 2, 7, 9)
WRONG: tuple[Any, ...] = (
    "text",
    3,
    1.5,
    True,
    [],
    {},
    None,
    77,
    ["a", "a"],
    "much too long a text",
)


@dataclass(frozen=True, slots=True)
class Oddness:
    """How likely a field is null, and how likely a value is of no use at all."""

    nulls: float
    wrong: float


def draw(rng: Random, schema: dict[str, Any], odd: Oddness) -> Any:
    if rng.random() < odd.wrong:
        return rng.choice(WRONG)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "x-kubernetes-int-or-string" in schema:
        return rng.choice((1, 2, "1", "50%"))
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return _free(rng, 2)
    return _PLAIN[schema["type"]](rng, schema, odd)


def _object(rng: Random, schema: dict[str, Any], odd: Oddness) -> dict[str, Any]:
    if inner := schema.get("additionalProperties"):
        return {
            key: draw(rng, inner, odd) for key in rng.sample(("k", "l", "m"), rng.randint(0, 2))
        }
    properties = schema.get("properties", {})
    needed = set(schema.get("required", ()))
    share = rng.choice((0.3, 0.6, 0.9))
    found: dict[str, Any] = {}
    for name, inner in properties.items():
        if rng.random() < odd.nulls and name not in needed:
            found[name] = None
        elif name in needed or rng.random() < share:
            found[name] = draw(rng, inner, odd)
    if rng.random() < odd.wrong:
        found["unknown"] = rng.choice(WRONG)
    return found


def _array(rng: Random, schema: dict[str, Any], odd: Oddness) -> list[Any]:
    found = [draw(rng, schema["items"], odd) for _ in range(rng.randint(0, 3))]
    keys = schema.get("x-kubernetes-list-map-keys")
    unique = schema.get("x-kubernetes-list-type") in {"set", "map"}
    if not unique or rng.random() < odd.wrong:
        return found
    kept: dict[Any, Any] = {}
    for item in found:
        kept.setdefault(_identity(item, keys), item)
    return list(kept.values())


def _identity(item: Any, keys: list[str] | None) -> str:
    if keys and isinstance(item, dict):
        return repr([item.get(key, "x") for key in keys])
    return repr(item)


def _free(rng: Random, depth: int) -> Any:
    choice = rng.randint(0, 5 if depth else 3)
    if choice == 4:
        return {key: _free(rng, depth - 1) for key in rng.sample(("k", "l", "m"), 2)}
    if choice == 5:
        return [_free(rng, depth - 1) for _ in range(rng.randint(0, 2))]
    plain: tuple[Any, ...] = (rng.choice(WORDS), rng.choice(NUMBERS), True, 2.5)
    return {"k": plain[choice]} if depth == 2 else plain[choice]


_PLAIN: dict[str, Any] = {
    "object": _object,
    "array": _array,
    "string": lambda rng, _schema, _odd: rng.choice(WORDS),
    "integer": lambda rng, _schema, _odd: rng.choice(NUMBERS),
    "number": lambda rng, _schema, _odd: rng.choice((0, 1, 0.5, 2.25, -1.5, 1e21)),
    "boolean": lambda rng, _schema, _odd: rng.random() < 0.5,
}
