# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own resources as they are served: discovery's facts joined with each kind's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.definitions.definition import DefinitionStrategy
from trellis.embedded.natives import selectable_fields, strategy_of
from trellis.embedded.natives.facts import facts_of
from trellis.embedded.natives.pod.deletion import grace_of_pod
from trellis.embedded.schema.node import native_of
from trellis.embedded.selecting.fields import NAME, NAMESPACE
from trellis.embedded.served import Manners, Served, Strategy
from trellis.embedded.wire.resources import builtin

if TYPE_CHECKING:
    from trellis.embedded.wire.resources import ResourceInfo

_ORPHANING = frozenset({("batch", "Job"), ("", "ReplicationController")})


def natives() -> dict[tuple[str, str, str], Served]:
    """All of them, in the order in which discovery lists them."""
    found = [_served(info) for info in builtin()]
    return {(each.group, each.version, each.plural): each for each in found}


def _served(info: ResourceInfo) -> Served:
    return Served(
        group=info.group,
        version=info.version,
        kind=info.kind,
        plural=info.plural,
        singular=info.singular,
        namespaced=info.namespaced,
        schema=native_of(info.group, info.version, info.kind),
        strategy=_strategy(info.group, info.kind),
        list_kind=info.list_kind,
        short_names=info.short_names,
        categories=info.categories,
        verbs=info.verbs,
        subresources=info.subresources,
        selectable=_selectable(info.group, info.kind),
        manners=_manners(info.group, info.kind),
    )


def _selectable(group: str, kind: str) -> tuple[str, ...]:
    """Beside the name and the namespace, which every kind can be selected by."""
    found = selectable_fields(group, kind)
    return tuple(name for name in found if name not in {NAME, NAMESPACE})


def _strategy(group: str, kind: str) -> Strategy:
    if kind == "CustomResourceDefinition":
        return DefinitionStrategy()
    return strategy_of(group, kind)


def _manners(group: str, kind: str) -> Manners:
    facts = facts_of(group, kind)
    return Manners(
        created_by_update=facts.creates_on_update,
        unconditional=facts.unconditional_update,
        returns_deleted=facts.answers_with_object,
        orphans_by_default=(group, kind) in _ORPHANING,
        grace=grace_of_pod if (group, kind) == ("", "Pod") else None,
    )
