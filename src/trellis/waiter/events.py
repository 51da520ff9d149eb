# SPDX-License-Identifier: Apache-2.0
"""What a server tells of one PodClique, read with care: it may send anything. Pure."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeGuard

from trellis.waiter.tally import Count, Missing, Sight


class Unreadable(Exception):
    """An answer that no API server would give."""


class Expired(Exception):
    """What is asked for has been forgotten: to be read anew from the start."""


class Refused(Exception):
    """The server answered with an error. `code` is HTTP's."""

    def __init__(self, code: int, message: str, after: float = 0.0) -> None:
        super().__init__(f"{code} {message}".strip())
        self.code = code
        self.after = after
        """For how many seconds the server wants to be left alone."""


class News(NamedTuple):
    """How far the server has told, and what there is to see now, if anything changed."""

    version: str
    sight: Sight | None = None


def of_list(content: bytes) -> News:
    """From an answer to a list of one name."""
    found = _object(content)
    items = found.get("items") or []
    if not isinstance(items, list):
        raise Unreadable("a list without items")
    return News(_version(found), _count(items[0]) if items else Missing.ABSENT)


def of_event(line: bytes) -> News:
    """From one line of a watch. Raises what the server complains of."""
    event = _object(line)
    kind, subject = event.get("type"), event.get("object")
    if not isinstance(subject, dict):
        raise Unreadable("an event without an object")
    if kind == "ERROR":
        raise _complaint(subject)
    if kind == "BOOKMARK":
        return News(_version(subject))
    return News(_version(subject), Missing.ABSENT if kind == "DELETED" else _count(subject))


def refusal(status: int, content: bytes, after: str = "") -> Exception:
    """The error in an answer that is not 200."""
    if status == 410:
        return Expired()
    try:
        message = str(_object(content).get("message", ""))
    except Unreadable:
        message = ""
    wait = float(after) if after.isascii() and after.isdecimal() and len(after) < 6 else 0.0
    return Refused(status, message, wait)


def _complaint(status: dict[str, Any]) -> Exception:
    code = status.get("code")
    if code == 410:
        return Expired()
    return Refused(code if isinstance(code, int) else 500, str(status.get("message", "")))


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise Unreadable("not JSON") from None
    if not isinstance(found, dict):
        raise Unreadable("no object")
    return found


def _version(found: dict[str, Any]) -> str:
    version = _part(found, "metadata").get("resourceVersion")
    if not isinstance(version, str) or not version:
        raise Unreadable("no resourceVersion")
    return version


def _count(clique: Any) -> Count:
    replicas = _part(clique, "spec").get("replicas")
    if not _is_number(replicas):
        # Taken for 0, it would let everybody pass.
        raise Unreadable("a PodClique without spec.replicas")
    ready = _part(clique, "status").get("readyReplicas")
    return Count(replicas=replicas, ready=ready if _is_number(ready) else 0)


def _part(found: Any, name: str) -> dict[str, Any]:
    part = found.get(name) if isinstance(found, dict) else None
    return part if isinstance(part, dict) else {}


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
