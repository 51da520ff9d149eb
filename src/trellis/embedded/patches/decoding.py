# SPDX-License-Identifier: Apache-2.0
"""The body of a patch, read: refused if it is no patch of its kind, with what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trellis.embedded import gotext
from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json
from trellis.embedded.schema.typed import Repeated
from trellis.embedded.schema.yamltext import from_yaml

IGNORE = "Ignore"
_MAP = "map[string]interface {}"
_OPERATION = "handlers.jsonPatchOp"
_OPERATION_FIELDS = ("op", "path", "from", "value")


@dataclass(slots=True)
class Decoded:
    """`problems` are what a strict reader refuses and a warning one tells: keys given twice."""

    value: Any
    problems: list[str] = field(default_factory=list)


def decode_patch(body: bytes, form: str, mode: str) -> Decoded:
    """`form` is json, merge, strategic or apply; `mode` is Ignore, Warn or Strict."""
    if form == "apply":
        return _applied(body)
    watched = mode != IGNORE
    try:
        value = from_json(body, watch_keys=watched)
    except Undecodable as error:
        raise _malformed(str(error), form, watched) from error
    problems: list[str] = []
    value = _plain(value, "", problems)
    if form == "json":
        return Decoded(*_operations(value, problems, watched))
    if isinstance(value, dict):
        return Decoded(value, problems if watched else [])
    if value is None and form == "strategic":
        return Decoded({})
    if value is None or (form == "merge" and not watched):
        raise bad_request("Invalid JSON Patch")
    raise _malformed(_mismatch(value, _MAP), form, watched)


def _malformed(said: str, form: str, watched: bool) -> Refusal:
    """What the server says depends on which of its readers comes first."""
    if form == "strategic" or (form == "json" and not watched):
        return bad_request(said)
    return bad_request(f"error decoding patch: {said}" if watched else "Invalid JSON Patch")


def _mismatch(value: Any, wanted: str, place: str = "value") -> str:
    return f"json: cannot unmarshal {gotext.json_kind(value)} into Go {place} of type {wanted}"


def _plain(value: Any, path: str, problems: list[str]) -> Any:
    """Without the memory of keys that were given twice, which are put into words."""
    if isinstance(value, list):
        return [_plain(item, f"{path}[{at}]", problems) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    twice = value.keys_repeated if isinstance(value, Repeated) else ()
    plain: dict[str, Any] = {}
    for name, held in value.items():
        below = f"{path}.{name}" if path else name
        if name in twice:
            problems.append(f'duplicate field "{below}"')
        plain[name] = _plain(held, below, problems)
    return plain


def _operations(value: Any, problems: list[str], watched: bool) -> tuple[list[Any], list[str]]:
    if value is None:
        return [], []
    if not isinstance(value, list):
        wanted = f"[]{_OPERATION}" if watched else "jsonpatch.Patch"
        raise _malformed(_mismatch(value, wanted), "json", watched)
    for at, operation in enumerate(value):
        if operation is None:
            continue
        if not isinstance(operation, dict):
            wanted = _OPERATION if watched else "jsonpatch.Operation"
            raise _malformed(_mismatch(operation, wanted), "json", watched)
        if watched:
            _check_operation(operation, at, problems)
    return value, [f"json patch {said}" for said in problems] if watched else []


def _check_operation(operation: dict[str, Any], at: int, problems: list[str]) -> None:
    for name, held in operation.items():
        if name not in _OPERATION_FIELDS:
            problems.append(f'unknown field "[{at}].{name}"')
        elif name != "value" and held is not None and not isinstance(held, str):
            place = f"struct field jsonPatchOp.{name}"
            raise _malformed(_mismatch(held, "string", place), "json", True)


def _applied(body: bytes) -> Decoded:
    try:
        value, repeated = from_yaml(body)
    except Undecodable as error:
        message = f"error decoding YAML: error converting YAML to JSON: {error}"
        raise bad_request(message) from error
    if value is None:
        return Decoded({}, repeated)
    if isinstance(value, dict):
        return Decoded(value, repeated)
    why = f"error unmarshaling JSON: while decoding JSON: {_mismatch(value, _MAP)}"
    raise bad_request(f"error decoding YAML: {why}")
