# SPDX-License-Identifier: Apache-2.0
"""The manifests of `tests/unit/workloads/corpus`: a base that is well, and what makes it bad."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from trellis.api import strictyaml

FOLDER = Path(__file__).parents[1] / "corpus"
_LIMITS = strictyaml.Limits(size=1 << 20)
_REPEATED = re.compile(r"<(.)\*(\d+)>")


def a_clique(name: str, **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "registry.example.com/main:1"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": 2, "podSpec": pod, **spec}}


def a_set(name: str = "base") -> dict[str, Any]:
    """A leader, and a scaling group with two members."""
    group = {"name": "gang", "cliqueNames": ["worker", "helper"], "replicas": 2, "minAvailable": 1}
    cliques = [a_clique("leader", minAvailable=1), a_clique("worker"), a_clique("helper")]
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "template": {"cliques": cliques, "podCliqueScalingGroups": [group]},
        },
    }


def changed(document: Any, at: dict[str, Any], drop: list[str]) -> Any:
    """A copy with values set and removed, by JSON pointer."""
    new = copy.deepcopy(document)
    for pointer, value in at.items():
        parent, key = _found(new, pointer)
        if isinstance(parent, list) and key == len(parent):
            parent.append(None)
        parent[key] = _spelled(value)
    for pointer in drop:
        parent, key = _found(new, pointer)
        del parent[key]
    return new


def bad() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = strictyaml.load((FOLDER / "bad.yaml").read_text(), _LIMITS)
    return found


def _found(document: Any, pointer: str) -> tuple[Any, Any]:
    *parents, last = pointer.removeprefix("/").split("/")
    for part in parents:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document, int(last) if isinstance(document, list) else last


def _spelled(value: Any) -> Any:
    """The value with what is written short in it written out."""
    if isinstance(value, str):
        return _REPEATED.sub(lambda found: found[1] * int(found[2]), value)
    if isinstance(value, list):
        return [_spelled(one) for one in value]
    if isinstance(value, dict):
        return {key: _spelled(one) for key, one in value.items()}
    return value
