# SPDX-License-Identifier: Apache-2.0
"""What a request says beside its object: the options of its query, or of a DELETE's body.

Read as the real server reads them, refusals included; what an option does is no business of this
module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.refusals import invalid as refused
from trellis.embedded.selecting import FieldSelector, LabelSelector, parse_fields, parse_labels
from trellis.embedded.wire.numbers import parsed_duration, parsed_integer, parsed_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trellis.embedded.exchange import Ask
    from trellis.embedded.served import Served

META = "meta.k8s.io"
EXACT, NOT_OLDER = "Exact", "NotOlderThan"
LONGEST_MANAGER = 128
_POLICIES = ("Foreground", "Background", "Orphan")
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_LIMITS = {"gracePeriodSeconds": int, "orphanDependents": bool, "propagationPolicy": str}
_GO_TYPES = {int: "int64", bool: "bool", str: "string"}

Object = dict[str, Any]

_ALL_LABELS, _ALL_FIELDS = LabelSelector(), FieldSelector()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """Of POST, PUT and PATCH. `field_validation` is Ignore, Warn or Strict."""

    field_manager: str = ""
    field_validation: str = "Warn"
    dry_run: bool = False
    force: bool | None = None
    said: Mapping[str, Any] | None = None
    """As admission is told of them."""

    def spoken(self, kind: str) -> Object:
        return {"kind": kind, "apiVersion": f"{META}/v1", **(self.said or {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    grace: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    orphan: bool | None = None
    propagation: str = ""
    dry_run: bool = False
    said: Mapping[str, Any] | None = None

    def spoken(self, kind: str) -> Object:
        return {"kind": kind, "apiVersion": f"{META}/v1", **(self.said or {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Of lists, watches and the deletion of collections. `limit` 0 is none."""

    labels: LabelSelector = _ALL_LABELS
    fields: FieldSelector = _ALL_FIELDS
    watch: bool = False
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout: int | None = None
    limit: int = 0
    continued: str = ""
    initial_events: bool | None = None


def write_options(ask: Ask, kind: str) -> WriteOptions:
    """`kind` is CreateOptions, UpdateOptions or, for all but an apply, PatchOptions."""
    return _write_options(ask, kind, [])


def patch_options(ask: Ask, *, apply: bool) -> WriteOptions:
    errors = []
    if apply and not ask.parameter("fieldManager"):
        errors.append(required("fieldManager", "is required for apply patch"))
    if not apply and _flag(ask, "force") is not None:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    return _write_options(ask, "PatchOptions", errors)


def _write_options(ask: Ask, kind: str, errors: list[FieldError]) -> WriteOptions:
    if not ask.query and not errors:
        return _PLAIN
    manager = ask.parameter("fieldManager")
    validation = ask.parameter("fieldValidation")
    dry_run = _all(ask, "dryRun")
    errors += _manager_errors(manager)
    errors += _dry_run_errors(dry_run)
    if validation not in _VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    _refuse(kind, errors)
    force = _flag(ask, "force") if kind == "PatchOptions" else None
    said = {
        "dryRun": dry_run,
        "fieldManager": manager,
        "fieldValidation": validation,
    }
    return WriteOptions(
        field_manager=manager,
        field_validation=validation or "Warn",
        dry_run=bool(dry_run),
        force=force,
        said={name: value for name, value in said.items() if value not in (None, "", [])},
    )


_PLAIN = WriteOptions()


def _manager_errors(manager: str) -> Iterable[FieldError]:
    if len(manager.encode()) > LONGEST_MANAGER:
        yield too_long("fieldManager", LONGEST_MANAGER)
    position = 0
    for character in manager:
        if not character.isprintable():
            shown = f"U+{ord(character):04X}"
            why = f"invalid character {shown} (at position {position})"
            yield invalid("fieldManager", manager, why)
        position += len(character.encode())


def _dry_run_errors(values: Sequence[str]) -> Iterable[FieldError]:
    if set(values) - {"All"}:
        yield not_supported("dryRun", list(values), ("All",))


def delete_options(ask: Ask, body: Mapping[str, Any] | None) -> DeleteOptions:
    """Of the body if there is one, else of the query: never of both."""
    found = _of_query(ask) if body is None else body
    _typed(found)
    grace, orphan = found.get("gracePeriodSeconds"), found.get("orphanDependents")
    policy = found.get("propagationPolicy")
    dry_run = found.get("dryRun") or []
    errors = []
    if orphan is not None and policy is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, why))
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("propagationPolicy", policy, (*_POLICIES, "nil")))
    errors += _dry_run_errors(dry_run)
    _refuse("DeleteOptions", errors)
    conditions = found.get("preconditions") or {}
    return DeleteOptions(
        grace=grace,
        uid=conditions.get("uid"),
        resource_version=conditions.get("resourceVersion"),
        orphan=orphan,
        propagation=policy or "",
        dry_run=bool(dry_run),
        said={name: value for name, value in found.items() if name not in ("kind", "apiVersion")},
    )


def _of_query(ask: Ask) -> Object:
    found: Object = {}
    if (grace := _integer(ask, "gracePeriodSeconds")) is not None:
        found["gracePeriodSeconds"] = grace
    if (orphan := _flag(ask, "orphanDependents")) is not None:
        found["orphanDependents"] = orphan
    if policies := _all(ask, "propagationPolicy"):
        found["propagationPolicy"] = policies[0]
    if dry_run := _all(ask, "dryRun"):
        found["dryRun"] = dry_run
    return found


def _typed(found: Mapping[str, Any]) -> None:
    """A body is anybody's JSON; Go's decoder says which field does not fit."""
    for name, wanted in _LIMITS.items():
        _fits(found.get(name), wanted, f"DeleteOptions.{name}")
    conditions = found.get("preconditions")
    _fits(conditions, dict, "DeleteOptions.preconditions")
    for name, value in (conditions or {}).items():
        _fits(value, str, f"Preconditions.preconditions.{name}")
    listed = found.get("dryRun")
    _fits(listed, list, "DeleteOptions.dryRun")
    for each in listed or ():
        _fits(each, str, "DeleteOptions.dryRun")


def _fits(value: Any, wanted: type, field: str) -> None:
    if value is None or type(value) is wanted:
        return
    said = _json_type(value)
    go = {**_GO_TYPES, dict: "v1.Preconditions", list: "[]string"}[wanted]
    raise bad_request(f"json: cannot unmarshal {said} into Go struct field {field} of type {go}")


def _json_type(value: Any) -> str:
    named = {bool: "bool", str: "string", list: "array", dict: "object"}
    return named.get(type(value), f"number {value}" if isinstance(value, float) else "number")


def list_options(ask: Ask, served: Served) -> ListOptions:
    """Refusals in the server's order: what cannot be read, what contradicts, what is unknown."""
    if not ask.query:
        return _EVERYTHING
    labels = parse_labels(ask.parameter("labelSelector"))
    found = ListOptions(
        labels=labels,
        fields=parse_fields(ask.parameter("fieldSelector"), served),
        watch=_flag(ask, "watch") or False,
        bookmarks=_flag(ask, "allowWatchBookmarks") or False,
        resource_version=ask.parameter("resourceVersion"),
        match=ask.parameter("resourceVersionMatch"),
        timeout=_integer(ask, "timeoutSeconds"),
        limit=max(_integer(ask, "limit") or 0, 0),
        continued=ask.parameter("continue"),
        initial_events=_flag(ask, "sendInitialEvents"),
    )
    _refuse("ListOptions", _watch_errors(found) if found.watch else _list_errors(found))
    return found


_EVERYTHING = ListOptions()


def _list_errors(found: ListOptions) -> list[FieldError]:
    errors = []
    if found.match:
        if not found.resource_version:
            errors.append(
                _match("resourceVersionMatch is forbidden unless resourceVersion is provided")
            )
        if found.continued:
            errors.append(_match("resourceVersionMatch is forbidden when continue is provided"))
        if found.match not in (EXACT, NOT_OLDER):
            known = (EXACT, NOT_OLDER, "")
            errors.append(not_supported("resourceVersionMatch", found.match, known))
        if found.match == EXACT and found.resource_version == "0":
            errors.append(
                _match('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
            )
    if found.initial_events is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(found: ListOptions) -> list[FieldError]:
    errors = []
    if found.initial_events is not None and found.match != NOT_OLDER:
        errors.append(
            _match(f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}")
        )
    if found.match:
        if found.initial_events is None:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            errors.append(_match(why))
        if found.match != NOT_OLDER:
            errors.append(not_supported("resourceVersionMatch", found.match, (NOT_OLDER,)))
        if found.continued:
            errors.append(_match("resourceVersionMatch is forbidden when continue is provided"))
    return errors


def _match(why: str) -> FieldError:
    return forbidden("resourceVersionMatch", why)


def check_timeout(ask: Ask) -> None:
    """`timeout` bounds how long any request may take; here it only must be a duration."""
    said = ask.parameter("timeout")
    if said:
        try:
            parsed_duration(said)
        except ValueError as error:
            why = f"invalid timeout specified in the request URL - {error}"
            raise bad_request(why) from None


def list_version(text: str) -> int:
    """The resourceVersion of a list, 0 for none."""
    try:
        return parsed_version(text)
    except ValueError as error:
        raise bad_request(f"invalid resource version: {_bad_version(text, error)}") from None


def object_version(text: str) -> int:
    """The resourceVersion of a GET or a watch, 0 for none. The server means no 400 by this."""
    try:
        return parsed_version(text)
    except ValueError as error:
        raise Refusal(500, "", str(_bad_version(text, error))) from None


def _bad_version(text: str, error: ValueError) -> FieldError:
    return invalid("resourceVersion", text, str(error))


def _refuse(kind: str, errors: Sequence[FieldError]) -> None:
    if errors:
        raise refused(META, kind, "", errors)


def _all(ask: Ask, name: str) -> list[str]:
    return [value for key, value in ask.query if key == name]


def _flag(ask: Ask, name: str) -> bool | None:
    """None when it is not there; every word but `0` and `false` is true, and so is none."""
    values = _all(ask, name)
    return None if not values else values[0] != "0" and values[0].lower() != "false"


def _integer(ask: Ask, name: str) -> int | None:
    values = _all(ask, name)
    try:
        return parsed_integer(values[0]) if values else None
    except ValueError as error:
        raise bad_request(str(error)) from None
