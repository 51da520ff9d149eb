# SPDX-License-Identifier: Apache-2.0
"""Quantities and semantic versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trellis.api import quantity
from trellis.cel.overloads import Library, traversal
from trellis.cel.problems import EvaluationProblem
from trellis.cel.values import INT_HIGHEST, INT_LOWEST

QUANTITIES = Library()
# What the API server says to every text that is no quantity.
_FORMAT = "quantities must match the regular expression "
_FORMAT += "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_PART = re.compile(r"0|[1-9][0-9]*")
_PRERELEASE = re.compile(r"[0-9A-Za-z-]+")
_LENGTH_LIMIT = 1024
_HIGHEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Quantity:
    nanos: int
    scaled: bool = False
    """Written in thousandths or with a fraction: such a quantity does not count as an integer."""
    type_name = "kubernetes.Quantity"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)


@lru_cache(maxsize=1024)
def read_quantity(text: str) -> Quantity | None:
    try:
        nanos = quantity.parse(text)
    except quantity.InvalidQuantity:
        return None
    return Quantity(nanos, scaled="." in text or text[-1:] in {"n", "u", "m"})


def _to_quantity(text: str) -> Quantity:
    found = read_quantity(text)
    if found is None:
        raise EvaluationProblem(_FORMAT)
    return found


def _is_integer(given: Quantity) -> bool:
    whole, rest = divmod(given.nanos, quantity.UNIT)
    return not rest and not given.scaled and INT_LOWEST < whole < INT_HIGHEST


def _to_integer(given: Quantity) -> int:
    if _is_integer(given):
        return given.nanos // quantity.UNIT
    raise EvaluationProblem("cannot convert value to integer")


def _order(first: Any, second: Any) -> int:
    return int(first > second) - int(first < second)


def _added(first: Quantity, second: Quantity | int, sign: int = 1) -> Quantity:
    if isinstance(second, int):
        second = Quantity(second * quantity.UNIT)
    return Quantity(first.nanos + sign * second.nanos, first.scaled or second.scaled)


@dataclass(frozen=True, slots=True)
class Semver:
    parts: tuple[int, int, int]
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    type_name = "kubernetes.Semver"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.rank == other.rank

    def __hash__(self) -> int:
        return hash(self.rank)

    @property
    def rank(self) -> tuple[Any, ...]:
        """Orders as semver says: a release after its prereleases, numbers before words."""
        words = tuple(
            (0, int(word), "") if word.isdigit() else (1, 0, word) for word in self.prerelease
        )
        return (self.parts, not words, words)


def read_semver(text: str) -> Semver:
    if not text:
        raise EvaluationProblem("Version string empty")
    if len(text) > _LENGTH_LIMIT:
        raise EvaluationProblem("Version string too long")
    core, _, build = text.partition("+")
    core, dash, prerelease = core.partition("-")
    parts = core.split(".", 2)
    if len(parts) != 3:
        raise EvaluationProblem("No Major.Minor.Patch elements found")
    numbers = tuple(
        _number(name, part) for name, part in zip(("major", "minor", "patch"), parts, strict=True)
    )
    words = tuple(prerelease.split(".")) if dash else ()
    built = tuple(build.split(".")) if "+" in text else ()
    for word in (*words, *built):
        if not _PRERELEASE.fullmatch(word):
            raise EvaluationProblem(f"Invalid character(s) found in prerelease {word!r}")
    for word in words:
        if word.isdigit() and not _PART.fullmatch(word):
            raise EvaluationProblem(
                f'Numeric PreRelease version must not contain leading zeroes "{word}"'
            )
    return Semver(numbers, words, built)  # type: ignore[arg-type]


def _number(name: str, part: str) -> int:
    if not (part.isascii() and part.isdigit()):
        raise EvaluationProblem(f'Invalid character(s) found in {name} number "{part}"')
    if not _PART.fullmatch(part):
        said = name.capitalize()
        raise EvaluationProblem(f'{said} number must not contain leading zeroes "{part}"')
    if int(part) > _HIGHEST:
        raise EvaluationProblem(f'strconv.ParseUint: parsing "{part}": value out of range')
    return int(part)


def _to_semver(text: str, normalise: bool = False) -> Semver:
    return read_semver(_normalised(text) if normalise else text)


def _normalised(text: str) -> str:
    """With three numbers, no leading zeros and no `v`."""
    parts = text.removeprefix("v").split(".", 2)
    for place, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[place] = stripped if stripped[:1].isdigit() else f"0{stripped}"
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise EvaluationProblem("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][:3])


def _is_semver(text: str, normalise: bool = False) -> bool:
    try:
        _to_semver(text, normalise)
    except EvaluationProblem:
        return False
    return True


def _of_text(text: str, *_rest: Any) -> int:
    return traversal(text)


QUANTITIES.function("quantity", "string -> Quantity", _to_quantity, _of_text)
QUANTITIES.function(
    "isQuantity", "string -> bool", lambda text: read_quantity(text) is not None, _of_text
)
QUANTITIES.function("sign", "Quantity -> int", lambda given: _order(given.nanos, 0))
QUANTITIES.member("isInteger", "Quantity -> bool", _is_integer)
QUANTITIES.member("asInteger", "Quantity -> int", _to_integer)
QUANTITIES.member(
    "asApproximateFloat", "Quantity -> double", lambda given: given.nanos / quantity.UNIT
)
for _other in ("Quantity", "int"):
    QUANTITIES.member("add", f"Quantity, {_other} -> Quantity", _added)
    QUANTITIES.member(
        "sub", f"Quantity, {_other} -> Quantity", lambda one, other: _added(one, other, -1)
    )
for _kind, _rank in (("Quantity", lambda given: given.nanos), ("Semver", lambda given: given.rank)):
    QUANTITIES.member(
        "isGreaterThan",
        f"{_kind}, {_kind} -> bool",
        lambda one, other, rank=_rank: rank(one) > rank(other),
    )
    QUANTITIES.member(
        "isLessThan",
        f"{_kind}, {_kind} -> bool",
        lambda one, other, rank=_rank: rank(one) < rank(other),
    )
    QUANTITIES.member(
        "compareTo",
        f"{_kind}, {_kind} -> int",
        lambda one, other, rank=_rank: _order(rank(one), rank(other)),
    )
for _more in ("", ", bool"):
    QUANTITIES.function("semver", f"string{_more} -> Semver", _to_semver, _of_text)
    QUANTITIES.function("isSemver", f"string{_more} -> bool", _is_semver, _of_text)
for _place, _name in enumerate(("major", "minor", "patch")):
    QUANTITIES.member(_name, "Semver -> int", lambda given, place=_place: given.parts[place])
