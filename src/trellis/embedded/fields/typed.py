# SPDX-License-Identifier: Apache-2.0
"""Whether a value may be applied: of the right types, with nothing unknown and no item twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded import gotext
from trellis.embedded.fields.elements import shown_step
from trellis.embedded.fields.listing import NoStep, step_of
from trellis.embedded.fields.shapes import BOOLEAN, NUMERIC, STRING

if TYPE_CHECKING:
    from trellis.embedded.fields.shapes import Shape


class NotTyped(Exception):
    """A value that its schema has no place for, in the words of the server."""


def check(shape: Shape, value: Any, *, duplicates: bool = False) -> None:
    problems: list[str] = []
    _Checker(problems, duplicates).value(shape, value, "")
    if problems:
        alone = len(problems) == 1
        raise NotTyped(problems[0] if alone else "\n  ".join(("errors:", *problems)))


class _Checker:
    def __init__(self, problems: list[str], duplicates: bool) -> None:
        self.problems = problems
        self.duplicates = duplicates
        """An item may be there twice: an object may have come to that, an apply may not."""

    def say(self, path: str, problem: str) -> None:
        self.problems.append(f"{path}: {problem}" if path else problem)

    def value(self, shape: Shape, value: Any, path: str) -> None:
        if value is None:
            return
        if isinstance(value, dict) and shape.is_map:
            self.map(shape, value, path)
        elif isinstance(value, list) and shape.is_list:
            self.list(shape, value, path)
        elif shape.is_map and (isinstance(value, dict | list) or not shape.scalar):
            self.say(path, f"expected map, got &{{{gotext.plain(value)}}}")
        elif shape.scalar:
            self.scalar(shape.scalar, value, path)
        else:
            self.say(path, f"expected list, got &{{{gotext.plain(value)}}}")

    def map(self, shape: Shape, value: dict[str, Any], path: str) -> None:
        for name, held in value.items():
            below = shape.fields.get(name, shape.element)
            if below is None:
                self.say(f"{path}.{name}", "field not declared in schema")
                return
            self.value(below, held, f"{path}.{name}")

    def list(self, shape: Shape, items: list[Any], path: str) -> None:
        if shape.list_atomic:
            for index, item in enumerate(items):
                self.value(shape.items, item, f"{path}[{index}]")
            return
        seen: set[str] = set()
        for index, item in enumerate(items):
            try:
                step = step_of(shape, item)
            except NoStep as problem:
                self.say(path, f"element {index}: {problem}")
                return
            said = shown_step(step)
            if step in seen and not self.duplicates:
                self.say(path, f"duplicate entries for key {said}")
            seen.add(step)
            self.value(shape.items, item, path + said)

    def scalar(self, wanted: str, value: Any, path: str) -> None:
        if wanted == NUMERIC:
            if isinstance(value, bool) or not isinstance(value, int | float):
                self.say(path, f"expected numeric (int or float), got {gotext.kind(value)}")
        elif wanted == STRING:
            if not isinstance(value, str):
                seen = f"&value.valueUnstructured{{Value:{gotext.syntax(value)}}}"
                self.say(path, f"expected string, got {seen}")
        elif wanted == BOOLEAN:
            if not isinstance(value, bool):
                self.say(path, f"expected boolean, got &{{{gotext.plain(value)}}}")
        elif isinstance(value, dict | list):
            self.say(path, f"expected any scalar, got &{{{gotext.plain(value)}}}")
