# SPDX-License-Identifier: Apache-2.0
"""What the devices of a claim must have in common, or must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.embedded.scheduling.devices.inventory import Candidate
    from trellis.embedded.scheduling.dra import Constraint


class Bond:
    """A constraint and the devices chosen so far. Taken back in the reverse order of adding."""

    def __init__(self, constraint: Constraint) -> None:
        self._requests = frozenset(constraint.requests)
        self._attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        self._distinct = constraint.match_attribute is None
        self._values: list[Any] = []

    def add(self, request: str, candidate: Candidate) -> bool:
        """Whether the device may be added; `request` is `name` or `name/alternative`."""
        if not self._binds(request):
            return True
        value = _attribute(candidate, self._attribute)
        if value is None:
            return False
        known = value in self._values
        if self._values and known is self._distinct:
            return False
        self._values.append(value)
        return True

    def take_back(self, request: str) -> None:
        if self._binds(request):
            self._values.pop()

    def _binds(self, request: str) -> bool:
        named = self._requests
        return not named or request in named or request.partition("/")[0] in named


def _attribute(candidate: Candidate, name: str) -> tuple[str, Any] | None:
    """The kind and the value of the attribute: 1 is not true, and "1" is neither."""
    attributes = candidate.device.attributes
    domain, _, short = name.partition("/")
    found = attributes.get(name)
    if found is None and domain == candidate.id[0]:
        found = attributes.get(short)
    return next(iter(found.items()), None) if found else None
