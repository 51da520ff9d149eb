# SPDX-License-Identifier: Apache-2.0
"""Turns what one server said once into what every conformant server says always.

Hidden is only what must differ between two runs: ids, names of namespaces, times and
resourceVersions. Each is replaced in a way that keeps relations visible: the same uid gives the
same token, and resourceVersions keep their order, so `unchanged` and `newer` are still seen.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
# The five characters that the server draws for generateName, and for a pod's token volume.
_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
_TOKEN_VOLUME = re.compile(rf"\b(kube-api-access-){_SUFFIX}\b")
# Where a message quotes resourceVersions, the server's words around them.
_VERSIONS_IN_TEXT = (
    re.compile(r"(?<=ResourceVersion in object meta: )\d+"),
    re.compile(r"(?<=ResourceVersion in precondition: )\d+"),
    re.compile(r"(?<=too old resource version: )\d+ \(\d+\)"),
    re.compile(r"(?<=current: )\d+"),
    re.compile(r"(?<=ResourceVersion in record \()\d+"),
    # In an object that a message prints as JSON, plain or as a quoted string.
    re.compile(r'(?<="resourceVersion":")\d+'),
    re.compile(r'(?<=\\"resourceVersion\\":\\")\d+'),
    # In a request line. Numbers that a probe made up have one digit or more than nine.
    re.compile(r"(?<=[?&]resourceVersion=)\d{2,9}\b"),
)
# A uid with this head was made up by a probe and must stay readable.
PROBE_UID_HEAD = "00000000-"
NEAR = timedelta(days=2)
GENERATED_HEAD = 58


@dataclass(slots=True)
class Normaliser:
    """The tokens of one probe. `names` maps what this run made up to what stands for it."""

    names: dict[str, str]
    now: datetime
    _uids: dict[str, str] = field(default_factory=dict)

    def observations(self, raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Everything one probe saw, normalised together: tokens compare across observations."""
        versions = sorted({version for part in raw for version in _versions(part)})
        tokens = {version: f"<rv:{rank}>" for rank, version in enumerate(versions, 1)}
        self.names |= dict(_generated_names(raw))
        return [
            {key: self._field(part, key, tokens) for key in part}  # in the order of recording
            for part in raw
        ]

    def _value(self, value: Any, tokens: dict[int, str]) -> Any:
        if isinstance(value, dict):
            done = {self._text(key): self._field(value, key, tokens) for key in sorted(value)}
            return _with_sorted_managers(_with_sorted_causes(done))
        if isinstance(value, list):
            return [self._value(item, tokens) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _field(self, holder: dict[str, Any], key: str, tokens: dict[int, str]) -> Any:
        value = holder[key]
        if key == "resourceVersion" and _is_version(value):
            return tokens.get(int(value), "<rv>")
        if key == "continue" and isinstance(value, str) and value:
            return self._text(_continue_token(value))
        shown = self._value(value, tokens)
        if _is_collection(holder) and key == "metadata":
            _hide_version(value, shown, "<rv:list>")
        if holder.get("type") == "BOOKMARK" and key == "object" and isinstance(value, dict):
            _hide_version(value.get("metadata"), shown.get("metadata"), "<rv:bookmark>")
        return shown

    def _text(self, text: str) -> str:
        for name, token in self.names.items():
            text = text.replace(name, token)
        text = _TOKEN_VOLUME.sub(r"\1<random>", text)
        text = _UUID.sub(self._uid, text)
        text = _TIME.sub(self._time, text)
        for pattern in _VERSIONS_IN_TEXT:
            text = pattern.sub("<rv>", text)
        return text

    def _uid(self, found: re.Match[str]) -> str:
        if found[0].startswith(PROBE_UID_HEAD):
            return found[0]
        return self._uids.setdefault(found[0], f"<uid:{len(self._uids) + 1}>")

    def _time(self, found: re.Match[str]) -> str:
        """Times around now are of this run; any other was in the request and must stay."""
        near = abs(datetime.fromisoformat(found[0]) - self.now) < NEAR
        return "<time>" if near else found[0]


def _generated_names(value: Any) -> Iterator[tuple[str, str]]:
    """Names the server completed, with what stands for them. Any other name stays as it is."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inner:
        yield from _generated_names(part)
    if isinstance(value, dict) and value.get("generateName") and isinstance(value.get("name"), str):
        head = value["generateName"][:GENERATED_HEAD]
        if re.fullmatch(re.escape(head) + _SUFFIX, value["name"]):
            yield value["name"], f"{head}<random>"


def _versions(value: Any) -> Iterator[int]:
    """The resourceVersions of objects. Those of lists and bookmarks depend on what else happens."""
    if isinstance(value, list):
        for item in value:
            yield from _versions(item)
    if not isinstance(value, dict):
        return
    passing = _is_collection(value) or value.get("type") == "BOOKMARK"
    for key, inner in value.items():
        if key == "resourceVersion" and _is_version(inner):
            yield int(inner)
        elif not (passing and key in {"metadata", "object"}):
            yield from _versions(inner)


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and value.isdigit() and value != "0"


def _hide_version(metadata: Any, shown: Any, token: str) -> None:
    """Only a proper resourceVersion is hidden: anything else in its place must be seen."""
    if isinstance(metadata, dict) and _is_version(metadata.get("resourceVersion")):
        shown["resourceVersion"] = token


def _is_collection(value: dict[str, Any]) -> bool:
    return isinstance(value.get("items"), list) or value.get("kind") == "Table"


def _continue_token(value: str) -> str:
    try:
        decoded = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
        return f"<continue after {decoded['start']}>".replace("\x00", "")
    except (ValueError, KeyError, TypeError):
        return value


def _with_sorted_causes(status: dict[str, Any]) -> dict[str, Any]:
    """The order of causes is that of a Go map, thus random; the message lists them the same way."""
    details = status.get("details")
    if not isinstance(details, dict) or not isinstance(details.get("causes"), list):
        return status
    causes = sorted(details["causes"], key=lambda cause: json.dumps(cause, sort_keys=True))
    message = status.get("message")
    if isinstance(message, str):
        message = _sorted_message(message, causes)
    return status | {"message": message, "details": details | {"causes": causes}}


def _sorted_message(message: str, causes: list[dict[str, Any]]) -> str:
    head, bracket, tail = message.partition("[")
    if not bracket or not tail.endswith("]"):
        return message
    rest = tail[:-1]
    pieces = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes]
    for piece in sorted(pieces, key=len, reverse=True):
        if piece not in rest:
            return message
        rest = rest.replace(piece, "", 1)
    # Only the separators may be left; otherwise the list held something that no cause names.
    return f"{head}[{', '.join(pieces)}]" if not rest.replace(", ", "") else message


def _with_sorted_managers(metadata: dict[str, Any]) -> dict[str, Any]:
    """Entries of one operation are ordered by second, thus by chance; by manager only in a tie."""
    entries = metadata.get("managedFields")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return metadata
    runs = groupby(entries, key=lambda entry: (entry.get("operation"), "time" in entry))
    return metadata | {"managedFields": [entry for _, run in runs for entry in _by_manager(run)]}


def _by_manager(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = ("manager", "apiVersion", "subresource")
    return sorted(entries, key=lambda entry: [str(entry.get(key, "")) for key in keys])
