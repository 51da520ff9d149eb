# SPDX-License-Identifier: Apache-2.0
"""A live value and an applied one become one: nothing goes, what both have is as it was applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields.listing import steps

if TYPE_CHECKING:
    from trellis.embedded.fields.shapes import Shape


def merged(shape: Shape | None, live: Any, applied: Any) -> Any:
    """The result shares what did not change with its parts."""
    if shape is None:
        return applied
    if shape.is_map and not shape.map_atomic and isinstance(live, dict) and live:
        if isinstance(applied, dict):
            return _maps(shape, live, applied)
        if applied is None:
            return live
    if shape.is_list and not shape.list_atomic and isinstance(live, list) and live:
        if isinstance(applied, list):
            return _Weaving(shape, live, applied).woven()
        if applied is None and not shape.is_map and not shape.scalar:
            return live
    return applied


def _maps(shape: Shape, live: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    result = dict(live)
    for name, value in applied.items():
        below = shape.fields.get(name, shape.element)
        result[name] = merged(below, live[name], value) if name in live else value
    return result


class _Weaving:
    """Two lists of items that are known by their steps.

    Items of both come in the order of the applied list; live items that only the live list has
    keep their places around them.
    """

    def __init__(self, shape: Shape, live: list[Any], applied: list[Any]) -> None:
        self.shape = shape
        self.live = live
        self.left = steps(shape, live)
        self.right = steps(shape, applied)
        self.applied = dict(zip(self.right, applied, strict=True))
        self.alone: dict[str, Any] = {}
        for step, item in zip(self.left, live, strict=True):
            # An item that is there twice is not merged with anything.
            self.alone[step] = None if step in self.alone else item
        self.shared = [step for step in self.right if step in self.alone]
        self.done: set[str] = set()
        self.result: list[Any] = []

    def woven(self) -> list[Any]:
        at_left = at_right = 0
        while at_left < len(self.left) or at_right < len(self.right):
            left = self.left[at_left] if at_left < len(self.left) else None
            right = self.right[at_right] if at_right < len(self.right) else None
            if left is not None and left == right:
                self._take(left)
                at_left, at_right = at_left + 1, at_right + 1
            elif left is not None and right is not None and self._comes_later(left):
                at_left += 1
            elif left is not None and left not in self.applied:
                self.result.append(self.live[at_left])
                at_left += 1
            else:
                at_left += left in self.done
                if right is not None:
                    self._take(right)
                    at_right += 1
        return self.result

    def _comes_later(self, step: str) -> bool:
        """Both have it, but in the applied order another one that both have is next."""
        return step in self.applied and bool(self.shared) and self.shared[0] != step

    def _take(self, step: str) -> None:
        self.done.add(step)
        if self.shared and self.shared[0] == step:
            self.shared.pop(0)
        item = self.applied[step]
        if step in self.alone:
            item = merged(self.shape.items, self.alone[step], item)
        self.result.append(item)
