# SPDX-License-Identifier: Apache-2.0
"""What a shared claim is made from: a template in the set itself, or an object beside it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import field

from trellis.api.core.resourceclaim import ResourceClaimTemplate
from trellis.api.meta import Key, Value, detach
from trellis.workloads.sharing.adminaccess import REMEDY, ClaimSpec, admin_access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.resourcesharing import ResourceSharing

Find: TypeAlias = Callable[[Key], ResourceClaimTemplate | None]
"""How a ResourceClaimTemplate object is found: `caches.claim_templates.get`."""


class Marks(Value, frozen=True, kw_only=True):
    """What a template gives to the metadata of its claims."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


class Blueprint(Value, frozen=True, kw_only=True):
    """The part of a template that claims are made from. The spec is raw: it differs by version."""

    metadata: Marks = Marks()
    spec: msgspec.Raw

    def __post_init__(self) -> None:
        detach(self, "spec")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A template that is named and cannot be used."""

    template: str
    problem: str

    def __str__(self) -> str:
        return f"the claim template {self.template}, which resourceSharing names, {self.problem}"


_BLUEPRINT = msgspec.json.Decoder(Blueprint)
_CLAIM = msgspec.json.Decoder(ClaimSpec)


def resolved(found: PodCliqueSet, sharing: ResourceSharing, find: Find) -> Blueprint | Unresolved:
    """The template by that name: of the set's own if it has one, else the object."""
    inline = _inline(found).get(sharing.name)
    if inline is not None:
        return _read(sharing.name, inline)
    key = _key(found, sharing)
    template = find(key)
    if template is None:
        return Unresolved(str(key), "is neither in resourceClaimTemplates nor an object: make it")
    return _read(str(key), template.spec)


def templates_of(found: PodCliqueSet) -> Iterator[Key]:
    """The objects that a set makes claims from, at whichever level."""
    template, inline = found.spec.template, _inline(found)
    levels = (
        template.resource_sharing,
        *(group.resource_sharing for group in template.pod_clique_scaling_groups),
        *(clique.resource_sharing for clique in template.cliques),
    )
    for level in levels:
        yield from (_key(found, sharing) for sharing in level if sharing.name not in inline)


def _inline(found: PodCliqueSet) -> dict[str, msgspec.Raw]:
    templates = found.spec.template.resource_claim_templates
    return {template.name: template.template_spec for template in templates}


def _key(found: PodCliqueSet, sharing: ResourceSharing) -> Key:
    return Key(sharing.namespace or found.metadata.namespace, sharing.name)


def _read(name: str, spec: msgspec.Raw) -> Blueprint | Unresolved:
    try:
        found = _BLUEPRINT.decode(spec)
        place = next(admin_access(_CLAIM.decode(found.spec)), None)
    except msgspec.MsgspecError as error:
        return Unresolved(name, f"cannot be read: {error}")
    if place is not None:
        # Its author may have a right to it, and whoever wrote the set need not.
        return Unresolved(name, f"asks for admin access in spec.{place}: {REMEDY}")
    return found
