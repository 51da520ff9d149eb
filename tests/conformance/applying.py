# SPDX-License-Identifier: Apache-2.0
"""How a probe's request names its field manager: `p.do("PATCH", path, body, **applied("m1"))`."""

from __future__ import annotations

from typing import Any


def applied(manager: str, **query: str) -> dict[str, Any]:
    """Server-side apply by a manager."""
    return {"patch": "apply", "query": {"fieldManager": manager, **query}}


def forced(manager: str) -> dict[str, Any]:
    return applied(manager, force="true")


def updated(manager: str, patch: str | None = "merge") -> dict[str, Any]:
    """A write of another kind by a manager: a patch, or with None a POST or PUT."""
    kind = {"patch": patch} if patch else {}
    return {**kind, "query": {"fieldManager": manager}}


def owners(body: dict[str, Any]) -> Any:
    """Who owns what, for probes that are about nothing else."""
    entries = body["metadata"].get("managedFields", [])
    return {"metadata": {"managedFields": entries}}
