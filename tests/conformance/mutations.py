# SPDX-License-Identifier: Apache-2.0
"""What a wrong server would have been seen to do: observations with one thing wrong in each."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Observations = list[dict[str, Any]]
Place = tuple[Any, Any]
"""A container and the key or index at which something lies in it."""


def mutants(observations: Observations, seed: int) -> Iterator[tuple[str, Observations]]:
    """One mutant of each kind that applies, named by what is wrong with it."""
    rng = random.Random(seed)  # noqa: S311  not for secrets
    for name, places, spoil in _KINDS:
        mutant = copy.deepcopy(observations)
        found = list(places(mutant))
        if found:
            spoil(*rng.choice(found))
            yield name, mutant


def _everything(value: Any) -> Iterator[Place]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _everything(inner)


def _answered(observations: Observations) -> Iterator[Place]:
    """Every place in what came back; the request and the label are the probe's own."""
    for observation in observations:
        for part in ("body", "events", "value", "headers"):
            if isinstance(observation.get(part), dict | list):
                yield from _everything(observation[part])


def _leaves(observations: Observations) -> Iterator[Place]:
    return (
        (holder, key)
        for holder, key in _answered(observations)
        if not isinstance(holder[key], dict | list)
    )


def _fields(observations: Observations) -> Iterator[Place]:
    return ((holder, key) for holder, key in _answered(observations) if isinstance(holder, dict))


def _named(name: str) -> Callable[[Observations], Iterator[Place]]:
    def places(observations: Observations) -> Iterator[Place]:
        return (place for place in _answered(observations) if place[1] == name)

    return places


def _codes(observations: Observations) -> Iterator[Place]:
    return ((observation, "status") for observation in observations if "status" in observation)


def _causes(observations: Observations) -> Iterator[Place]:
    for holder, key in _named("causes")(observations):
        if isinstance(holder[key], list):
            yield from ((holder[key], index) for index in range(len(holder[key])))


def _cause_fields(observations: Observations) -> Iterator[Place]:
    return ((causes[index], "field") for causes, index in _causes(observations))


def _events(observations: Observations) -> Iterator[Place]:
    for observation in observations:
        events = observation.get("events", [])
        yield from ((events, index) for index in range(len(events)))


def _remove(holder: Any, key: Any) -> None:
    del holder[key]


def _change(holder: Any, key: Any) -> None:
    value = holder.get(key) if isinstance(holder, dict) else holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = value + 1
    else:
        holder[key] = f"{value}-wrong"


def _add(holder: Any, key: Any) -> None:
    holder[f"{key}Wrong"] = "wrong"


_KINDS: list[tuple[str, Callable[[Observations], Iterator[Place]], Callable[[Any, Any], None]]] = [
    ("a wrong code", _codes, _change),
    ("a wrong reason", _named("reason"), _change),
    ("a wrong message", _named("message"), _change),
    ("a cause too few", _causes, _remove),
    ("a cause of a wrong field", _cause_fields, _change),
    ("a field too few", _fields, _remove),
    ("a field too many", _fields, _add),
    ("a wrong value", _leaves, _change),
    ("an event too few", _events, _remove),
]
