# SPDX-License-Identifier: Apache-2.0
"""What a validation finds, and how it names the places it finds it at."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import FieldError, invalid

# What a value is in, and its name or position there; None is the root.
Place = tuple[Any, str | int] | None
NOWHERE = "<nil>"
"""How the server writes that an error has no field."""


def spelt(place: Place) -> str:
    """`spec.items[0].k`; names come as they are, dots and all."""
    parts: list[str] = []
    while place is not None:
        place, name = place
        parts.append(f"[{name}]" if isinstance(name, int) else f".{name}")
    return "".join(reversed(parts)).removeprefix(".")


class Flaws:
    """The errors of one validation, in the order they were found."""

    __slots__ = ("found", "prefix")

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.found: list[FieldError] = []

    def path(self, place: Place) -> str:
        where = spelt(place)
        if not self.prefix or not where:
            return where or self.prefix or NOWHERE
        return f"{self.prefix}{where}" if where.startswith("[") else f"{self.prefix}.{where}"

    def unplaced(self, said: str) -> None:
        """An error that the server knows no field for; it is only in the words."""
        self.found.append(invalid(self.prefix or NOWHERE, "", said))
