# SPDX-License-Identifier: Apache-2.0
"""fieldValidation of patches: what of the patch, and what of its result, is looked at."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Body, Probe, probe
from tests.conformance.probes.field_validation import DRY, LEVELS, twice

_ADD = {"op": "add", "path": "/nonsense", "value": 1}
_ADD_IN_SPEC = {"op": "add", "path": "/spec/nonsense", "value": 1}
_TWICE = b'{"data": {"b": "1", "b": "2"}}'
_TWICE_IN_SPEC = b'{"spec": {"size": 4, "size": 5}}'
_BUILT_IN: dict[str, tuple[str, Any]] = {
    "an unknown field in a merge patch of a built-in kind is 422 if strict": (
        "merge",
        {"nonsense": 1},
    ),
    "an unknown field in a JSON patch of a built-in kind is 422 if strict": ("json", [_ADD]),
    "an unknown field in a strategic patch of a built-in kind is 422 if strict": (
        "strategic",
        {"nonsense": 1},
    ),
    "an unknown field in an applied built-in kind is 500 at every level": (
        "apply",
        {**config_map("a"), "nonsense": 1},
    ),
    "a repeated field in a merge patch of a built-in kind is 422 if strict": ("merge", _TWICE),
    "a repeated field in a strategic patch of a built-in kind is 422 if strict": (
        "strategic",
        _TWICE,
    ),
    "a repeated field in an operation of a JSON patch is 422 if strict, and the last one counts": (
        "json",
        b'[{"op": "add", "path": "/data/b", "path": "/data/c", "value": "2", "nonsense": 1}]',
    ),
    "a repeated field in an applied built-in kind is 400 if strict": (
        "apply",
        twice(config_map("a"), '"a": "1"'),
    ),
    "a value of another type in a merge patch of a built-in kind is 422": (
        "merge",
        {"data": {"a": 1}},
    ),
    "a value of another type in a strategic patch is 422": ("strategic", {"data": {"a": 1}}),
    "a value of another type in a JSON patch is 422": (
        "json",
        [{"op": "add", "path": "/data/b", "value": 1}],
    ),
}
_CUSTOM: dict[str, tuple[str, Any]] = {
    "an unknown field in a merge patch of a custom resource is 422 if strict": (
        "merge",
        {"spec": {"nonsense": 1}},
    ),
    "an unknown field in a JSON patch of a custom resource is 422 if strict": (
        "json",
        [_ADD_IN_SPEC],
    ),
    "an unknown field in an applied custom resource is 500 at every level": (
        "apply",
        widget("a", {"size": 3, "nonsense": 1}),
    ),
    "a repeated field in a merge patch of a custom resource is 422 if strict": (
        "merge",
        _TWICE_IN_SPEC,
    ),
    "a repeated field in an applied custom resource is 400 if strict": (
        "apply",
        twice(widget("a"), '"size": 3'),
    ),
    "a value of another type in a merge patch of a custom resource is 422": (
        "merge",
        {"spec": {"size": "x"}},
    ),
}


def _unmanaged(body: dict[str, Any]) -> dict[str, Any]:
    names = ("data", "spec")
    return {name: body[name] for name in names if name in body}


def _patched(version: str, body: dict[str, Any], how: str, patch: Any) -> Body:
    async def run(p: Probe) -> None:
        resource = "configmaps" if version == "v1" else "widgets"
        await p.do("POST", p.path(version, resource), body)
        path = p.path(version, resource, "a")
        manager = {"fieldManager": "trellis-tests", "force": "true"} if how == "apply" else {}
        for level in LEVELS:
            query = {**DRY, **manager, "fieldValidation": level}
            how_ = {"patch": how, "query": query, "note": level}
            await p.see("PATCH", path, patch, pick=_unmanaged, **how_)

    return run


for _title, (_how, _patch) in _BUILT_IN.items():
    probe(_title)(_patched("v1", config_map("a"), _how, _patch))
for _title, (_how, _patch) in _CUSTOM.items():
    probe(_title)(_patched(WIDGETS, widget("a"), _how, _patch))
