# SPDX-License-Identifier: Apache-2.0
"""Canonical hashes of what decides whether a pod is up to date.

They are over sorted JSON, so that neither the order of keys nor a newer library moves them, and
they never see replicas: scaling is no update. The prefix names the algorithm; a value made by
another one is somebody else's and is adopted, not rolled.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.annotation import TOPOLOGY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.grove.template import CliqueTemplate

PREFIX = "v1-"
_DIGEST_BYTES = 10


def canonical(value: Any) -> bytes:
    """The one JSON text of a value. A null says the same as nothing, 1.0 the same as 1."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def digest(value: Any) -> str:
    """A short hash of a value, legal as a label's."""
    return PREFIX + blake2b(canonical(value), digest_size=_DIGEST_BYTES).hexdigest()


def template_hash(clique: CliqueTemplate, priority_class: str = "") -> str:
    """The hash of what the pods of a clique are made from.

    The priority class of the whole set is that of a clique which has none of its own.
    """
    pod_spec: dict[str, Any] = msgspec.json.decode(clique.spec.pod_spec)
    if priority_class and not pod_spec.get("priorityClassName"):
        pod_spec["priorityClassName"] = priority_class
    # This annotation is for gangs and never reaches pods.
    annotations = {key: value for key, value in clique.annotations.items() if key != TOPOLOGY_NAME}
    return digest({"labels": clique.labels, "annotations": annotations, "podSpec": pod_spec})


def generation_hash(template_hashes: Mapping[str, str]) -> str:
    """The hash of all cliques of a set together, by the hash of each by its name."""
    return digest(dict(template_hashes))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
