# SPDX-License-Identifier: Apache-2.0
"""YAML that means what JSON would: for configuration files that people write by hand.

Only `null`, `true`, `false` and JSON's numbers are anything but strings, so that `no`, `0300` and
`0000:17:00.0` stay what was written. Duplicate keys, tags, second documents, keys that are not
strings, deep nesting and aliases that expand without measure are refused, each with its line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml
from yaml import events

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_STRING_TAGS = (None, "!", "tag:yaml.org,2002:str")
_INT64 = range(-(1 << 63), 1 << 63)
_DIGITS_LIMIT = 20


class _Mark(Protocol):
    """A place in the text, counted from zero."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class InvalidYaml(ValueError):
    """The text is refused; the message says where and why."""

    def __init__(self, problem: str, mark: _Mark | None = None) -> None:
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        super().__init__(where + problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is let in. Values count as often as aliases repeat them."""

    size: int = 256 << 10
    depth: int = 64
    values: int = 20_000


CONFIGURATION = Limits()


def load(text: str, limits: Limits = CONFIGURATION) -> Any:
    """The one document in the text, as plain dicts, lists and scalars."""
    if len(text) > limits.size:
        raise InvalidYaml(f"the text has {len(text)} characters, and {limits.size} are allowed")
    document = _Document(limits)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            document.take(event)
    except yaml.MarkedYAMLError as error:
        raise InvalidYaml(error.problem or "the text cannot be read", error.problem_mark) from error
    except yaml.YAMLError as error:
        raise InvalidYaml(f"the text cannot be read: {' '.join(str(error).split())}") from error
    return document.root


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    before: int
    key: str | None = None


@dataclass(slots=True)
class _Document:
    """Builds the document from events, without recursion, counting as it goes."""

    limits: Limits
    root: Any = None
    _documents: int = 0
    _values: int = 0
    _open: list[_Open] = field(default_factory=list)
    _anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)

    def take(self, event: events.Event) -> None:
        match event:
            case events.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise InvalidYaml("a second document starts here; give one", event.start_mark)
            case events.ScalarEvent():
                self._scalar(event)
            case events.AliasEvent():
                self._alias(event)
            case events.SequenceStartEvent() | events.MappingStartEvent():
                self._start(event)
            case events.SequenceEndEvent() | events.MappingEndEvent():
                done = self._open.pop()
                self._remember(done.anchor, done.value, self._values - done.before)

    def _scalar(self, event: events.ScalarEvent) -> None:
        if event.tag not in _STRING_TAGS:
            raise InvalidYaml(f"the tag {event.tag} is not allowed", event.start_mark)
        value = event.value
        if event.tag is None and event.style is None:
            value = _resolved(event.value, event.start_mark)
        self._count(1, event)
        self._place(value, event)
        self._remember(event.anchor, value, 1)

    def _alias(self, event: events.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise InvalidYaml(
                f"*{event.anchor} stands for nothing finished before it", event.start_mark
            )
        value, weight = self._anchors[event.anchor]
        self._count(weight, event)
        self._place(value, event)

    def _start(self, event: events.CollectionStartEvent) -> None:
        if event.tag not in (None, "!"):
            raise InvalidYaml(f"the tag {event.tag} is not allowed", event.start_mark)
        if len(self._open) >= self.limits.depth:
            raise InvalidYaml(
                f"this is nested deeper than the {self.limits.depth} levels allowed",
                event.start_mark,
            )
        before = self._values
        self._count(1, event)
        value: list[Any] | dict[str, Any] = (
            {} if isinstance(event, events.MappingStartEvent) else []
        )
        self._place(value, event)
        self._open.append(_Open(value, event.anchor, before))

    def _place(self, value: Any, event: events.Event) -> None:
        """Puts a value where it belongs: into the list, or as key or value of the mapping."""
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is None:
            parent.key = _key(value, parent.value, event.start_mark)
        else:
            parent.value[parent.key] = value
            parent.key = None

    def _count(self, weight: int, event: events.Event) -> None:
        self._values += weight
        if self._values > self.limits.values:
            raise InvalidYaml(
                f"with this, there are more than the {self.limits.values} values allowed",
                event.start_mark,
            )

    def _remember(self, anchor: str | None, value: Any, weight: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, weight)


def _key(value: Any, known: dict[str, Any], mark: _Mark | None) -> str:
    if not isinstance(value, str):
        raise InvalidYaml(f"the key {value!r} is not a string; quote it", mark)
    if value in known:
        raise InvalidYaml(f"the key {value!r} is there twice; keep one", mark)
    return value


def _resolved(text: str, mark: _Mark | None) -> Any:
    """What a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _DIGITS_LIMIT or int(text) not in _INT64:
            raise InvalidYaml(f"{text[:24]}… is beyond a 64-bit integer", mark)
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        if math.isinf(number):
            raise InvalidYaml(f"{text[:24]} is beyond any number", mark)
        return number
    return text
