# SPDX-License-Identifier: Apache-2.0
"""What is done to a server: drawn from a seed alone, so that two servers are asked the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.conformance.fuzz import pods, values
from tests.conformance.fuzz.kinds import KINDS, POD, STATUS, Kind

if TYPE_CHECKING:
    from random import Random

NAMES = ("a", "b")
MANAGERS = ("ann", "bob", "cas")
LENGTH = 14
HOLD = "fuzz.example.com/hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request. Of an `update` the body is laid over what the server has at that time."""

    verb: str
    """create, update, merge, json, strategic, apply or delete."""
    kind: Kind
    name: str
    body: Any = None
    manager: str = "ann"
    subresource: str = ""
    query: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        what = "/".join(filter(None, (self.kind.plural, self.name, self.subresource)))
        return f"{self.verb} {what} by {self.manager} {self.query or ''} {self.body}"


def operations(rng: Random) -> list[Operation]:
    """A sequence on few names, so that they meet: it begins with something being there."""
    kind = rng.choice(KINDS)
    found = [_operation(rng, kind, "create"), _operation(rng, kind, "apply")]
    rng.shuffle(found)
    for _ in range(LENGTH):
        verb = rng.choices(
            ("update", "merge", "json", "strategic", "apply", "create", "delete"),
            (3, 4, 3, 3, 6, 1, 1),
        )[0]
        found.append(_operation(rng, kind, verb))
    return found


def _operation(rng: Random, kind: Kind, verb: str) -> Operation:
    changes_status = verb not in {"create", "delete"} and rng.random() < 0.2
    subresource = "status" if changes_status and kind.status else ""
    name = rng.choice(NAMES)
    query = _query(rng, verb)
    if verb == "json":
        body: Any = _json_patch(rng, kind)
    elif verb == "delete":
        body = _delete_options(rng)
    else:
        body = _body(rng, kind, verb, status=changes_status)
        if verb in {"create", "apply"}:
            body |= {"apiVersion": kind.version, "kind": kind.name}
            body["metadata"] = {**body.get("metadata", {}), "name": name}
    return Operation(
        verb=verb,
        kind=kind,
        name=name,
        body=body,
        manager=rng.choice(MANAGERS),
        subresource=subresource,
        query=query,
    )


def _query(rng: Random, verb: str) -> dict[str, str]:
    query: dict[str, str] = {}
    if verb == "apply" and rng.random() < 0.4:
        query["force"] = "true"
    if verb != "delete" and rng.random() < 0.15:
        query["fieldValidation"] = rng.choice(("Strict", "Warn", "Ignore"))
    if rng.random() < 0.05:
        query["dryRun"] = "All"
    return query


def _delete_options(rng: Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        # The other policies leave the rest to a controller, and how far that got is by chance.
        options["propagationPolicy"] = "Background"
    if rng.random() < 0.3:
        options["gracePeriodSeconds"] = rng.choice((0, 5))
    return options


def _body(rng: Random, kind: Kind, verb: str, *, status: bool) -> dict[str, Any]:
    """A whole object to create, update or apply; a part of one, with nulls, to patch."""
    part = verb in {"merge", "strategic"}
    odd = values.Oddness(nulls=0.25 if part else 0.05, wrong=0.03)
    body: dict[str, Any] = {}
    if metadata := _metadata(rng, part=part):
        body["metadata"] = metadata
    if kind is POD:
        made = pods.spec_change(rng) if verb in {"update", "merge", "strategic"} else None
        body["spec"] = made if made is not None else pods.spec(rng)
        if status:
            body = {**body, "status": pods.status(rng)}
        return body
    if status:
        body["status"] = values.draw(rng, STATUS, odd)
    if not status or rng.random() < 0.3:
        body["spec"] = values.draw(rng, kind.spec, odd)
    return body


def _metadata(rng: Random, *, part: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    empty = (None,) if part else ()
    if rng.random() < 0.5:
        found["labels"] = {rng.choice("pq"): rng.choice(("1", "2", *empty))}
    if rng.random() < 0.3:
        found["annotations"] = {rng.choice("rs"): rng.choice(("1", "2", *empty))}
    if rng.random() < 0.07:
        found["finalizers"] = rng.choice(([HOLD], []))
    if rng.random() < 0.04:
        found["managedFields"] = rng.choice(([], [{}]))
    return found


def _json_patch(rng: Random, kind: Kind) -> list[dict[str, Any]]:
    return [_json_operation(rng, kind) for _ in range(rng.randint(1, 3))]


def _json_operation(rng: Random, kind: Kind) -> dict[str, Any]:
    path = "/metadata/labels/p" if rng.random() < 0.2 else _json_path(rng, kind)
    verb = rng.choice(("add", "add", "replace", "remove", "test", "copy", "move"))
    made: dict[str, Any] = {"op": verb, "path": path}
    if verb in {"add", "replace", "test"}:
        made["value"] = pods.value_at(rng, path) if kind is POD else _value_at(rng, kind, path)
    if verb in {"copy", "move"}:
        made["from"] = _json_path(rng, kind)
    return made


def _json_path(rng: Random, kind: Kind) -> str:
    if kind is POD:
        return rng.choice(pods.PATHS)
    name = rng.choice(sorted(kind.spec["properties"]))
    schema = kind.spec["properties"][name]
    path = f"/spec/{name}"
    if schema.get("type") == "array" and rng.random() < 0.6:
        path += "/" + rng.choice(("0", "1", "-"))
    return path


def _value_at(rng: Random, kind: Kind, path: str) -> Any:
    if not path.startswith("/spec/"):
        return rng.choice(("1", "2"))
    _, _, name, *index = path.split("/")
    schema = kind.spec["properties"][name]
    odd = values.Oddness(nulls=0.05, wrong=0.03)
    return values.draw(rng, schema["items"] if index else schema, odd)
