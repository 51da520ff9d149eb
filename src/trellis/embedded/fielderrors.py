# SPDX-License-Identifier: Apache-2.0
"""What is wrong with one field of an object, said in the words of the real API server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
DUPLICATE = "FieldValueDuplicate"
NOT_FOUND = "FieldValueNotFound"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
TYPE_INVALID = "FieldValueTypeInvalid"
INTERNAL = "InternalError"

_WORDS = {
    INVALID: "Invalid value",
    REQUIRED: "Required value",
    NOT_SUPPORTED: "Unsupported value",
    FORBIDDEN: "Forbidden",
    DUPLICATE: "Duplicate value",
    NOT_FOUND: "Not found",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
    TYPE_INVALID: "Invalid value",
    INTERNAL: "Internal error",
}
# These say nothing of the value: it is not there, too long to be shown, or no business of theirs.
_WITHOUT_VALUE = frozenset({REQUIRED, FORBIDDEN, TOO_LONG, TOO_MANY, INTERNAL})
UNSHOWN: Final = object()
"""A value that the message does not repeat."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """`reason` is the cause of a Status; `path` such as `spec.containers[0].name`."""

    reason: str
    path: str
    value: Any = None
    detail: str = ""

    @property
    def body(self) -> str:
        """What a cause says: all but the path."""
        said = _WORDS[self.reason]
        if self.reason not in _WITHOUT_VALUE and self.value is not UNSHOWN:
            said += f": {shown(self.value)}"
        return f"{said}: {self.detail}" if self.detail else said

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"

    @property
    def cause(self) -> dict[str, str]:
        return {"reason": self.reason, "message": self.body, "field": self.path}


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A value that is shown exactly so: what Go prints for it is no JSON."""

    text: str


def shown(value: Any) -> str:
    """As Go prints it: strings quoted, everything else as JSON."""
    if isinstance(value, Verbatim):
        return value.text
    if value is None:
        return "null"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(INVALID, path, value, detail)


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(REQUIRED, path, None, detail)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(FORBIDDEN, path, None, detail)


def duplicate(path: str, value: Any) -> FieldError:
    return FieldError(DUPLICATE, path, value)


def not_found(path: str, value: Any) -> FieldError:
    return FieldError(NOT_FOUND, path, value)


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """In the order given: the server sorts some of these lists and not others."""
    listed = ", ".join(json.dumps(each, ensure_ascii=False) for each in supported)
    return FieldError(NOT_SUPPORTED, path, value, f"supported values: {listed}" if listed else "")


def too_long(path: str, most: int, what: str = "bytes") -> FieldError:
    return FieldError(TOO_LONG, path, None, f"may not be more than {most} {what}")


def too_many(path: str, count: int, most: int) -> FieldError:
    return FieldError(TOO_MANY, path, None, f"{count}: must have at most {most} items")


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(TYPE_INVALID, path, value, detail)


def child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def key(path: str, name: str) -> str:
    """An entry of a map whose keys are anybody's: `metadata.labels[a/b]`."""
    return f"{path}[{name}]"


def index(path: str, position: int) -> str:
    return f"{path}[{position}]"


def joined(errors: Sequence[FieldError]) -> str:
    """All of them in one line: alone as it is, several in brackets, repeated ones once."""
    lines = list(dict.fromkeys(str(error) for error in errors))
    return lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
