# SPDX-License-Identifier: Apache-2.0
"""Canonical hashes of what decides whether a pod is up to date.

They are over sorted JSON, so that neither the order of keys nor a newer library moves them, and
they never see replicas: scaling is no update. Amounts count as servers write them, because what is
stored may come back so, and what servers fill in counts for nothing. The prefix names the
algorithm; a value made by another one is somebody else's and is adopted, not rolled.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from trellis.api import quantity
from trellis.api.annotation import reaches_pods
from trellis.api.labels import CliquePlace, Component, common, of_clique, of_pod
from trellis.api.usual import without_usual

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.api.grove.template import CliqueTemplate

Paths: TypeAlias = tuple[tuple[str, ...], ...]

PREFIX = "v1-"
_DIGEST_BYTES = 10

# Labels that every pod gets from us, whatever the template says.
_OURS = frozenset(
    common("", "", Component.CLIQUE)
    | of_clique(CliquePlace(set_name="", set_replica=0, clique="", gang=""))
    | of_pod("", 0, "")
)
_ANY = "*"
# Where a pod spec holds amounts of resources. What looks like one anywhere else is just a text.
_RESOURCES = (("requests", _ANY), ("limits", _ANY))
_AMOUNTS: Paths = (
    *(
        (kind, _ANY, "resources", *rest)
        for kind in ("containers", "initContainers", "ephemeralContainers")
        for rest in _RESOURCES
    ),
    *(("resources", *rest) for rest in _RESOURCES),
    ("overhead", _ANY),
    ("volumes", _ANY, "emptyDir", "sizeLimit"),
    *(
        ("volumes", _ANY, "ephemeral", "volumeClaimTemplate", "spec", "resources", *rest)
        for rest in _RESOURCES
    ),
)

# The same of metrics by which pods are scaled, of whatever kind they are.
_METRICS: Paths = tuple((_ANY, _ANY, "target", amount) for amount in ("value", "averageValue"))


def canonical(value: Any) -> bytes:
    """The one JSON text of a value. A null says the same as nothing, 1.0 the same as 1."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def digest(value: Any) -> str:
    """A short hash of a value, legal as a label's."""
    return PREFIX + blake2b(canonical(value), digest_size=_DIGEST_BYTES).hexdigest()


def template_hash(clique: CliqueTemplate, priority_class: str = "") -> str:
    """The hash of what the pods of a clique are made from.

    The priority class of the whole set is that of a clique which has none of its own. Labels and
    annotations that never reach pods do not count.
    """
    pod_spec: dict[str, Any] = meaning(msgspec.json.decode(clique.spec.pod_spec))
    if priority_class and not pod_spec.get("priorityClassName"):
        pod_spec["priorityClassName"] = priority_class
    labels = {key: value for key, value in clique.labels.items() if key not in _OURS}
    annotations = {key: value for key, value in clique.annotations.items() if reaches_pods(key)}
    return digest({"labels": labels, "annotations": annotations, "podSpec": pod_spec})


def meaning(pod_spec: Any) -> Any:
    """A decoded pod spec as all are written that make the same pods. It is not changed itself."""
    return without_usual(with_plain_amounts(pod_spec))


def same_metrics(one: Any, other: Any) -> bool:
    """Whether an autoscaler goes by the same with both, which are decoded lists of metrics."""
    plain = (with_plain_amounts(metrics, _METRICS) for metrics in (one, other))
    first, second = map(canonical, plain)
    return first == second


def with_plain_amounts(tree: Any, where: Paths = _AMOUNTS) -> Any:
    """A decoded pod spec with its amounts as servers write them: `1000m` as `1`, `1024Mi` as `1Gi`.

    Or anything else that is decoded, if it is said where in it amounts are. What is no amount stays
    as it is. The tree is not changed; what stays the same is shared.
    """
    for path in where:
        tree = _changed(tree, path)
    return tree


def generation_hash(template_hashes: Mapping[str, str]) -> str:
    """The hash of all cliques of a set together, by the hash of each by its name."""
    return digest(dict(template_hashes))


def _changed(value: Any, path: tuple[str, ...]) -> Any:
    """The tree with the amounts at that path in their plain form."""
    if not path:
        return _amount(value)
    if isinstance(value, list) and path[0] == _ANY:
        return [_changed(item, path[1:]) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _changed(value[key], path[1:]) for key in _keys(value, path[0])}
    return value | changed if changed else value


def _keys(value: Mapping[str, Any], step: str) -> Iterator[str]:
    yield from value if step == _ANY else (key for key in (step,) if key in value)


def _amount(value: Any) -> Any:
    """Servers keep to the kind of suffix that was written: what was in Mi never comes back in M."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        nano = quantity.parse(value)
    except quantity.InvalidQuantity:
        return value
    is_binary = isinstance(value, str) and value.endswith("i")
    return quantity.to_binary_text(nano) if is_binary else quantity.to_text(nano)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
