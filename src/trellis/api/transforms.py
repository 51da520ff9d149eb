# SPDX-License-Identifier: Apache-2.0
"""How one room shapes pods that another makes: pure transforms of the pod template.

`app` hands a list of them to every room that makes pods. The same list runs when a pod is created,
when its template is updated and when it is adopted, so a transform must be

- pure: decided by its two arguments alone, no clock, no client, no cache of its own;
- idempotent: given its own answer it returns it unchanged;
- careful: what it does not know it leaves as it is, and what a user set it never takes away.

A template holds plain dicts, because only those carry fields that nobody here has heard of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTemplate:
    """The labels, annotations and spec of a pod to be. Never changed in place."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOwner:
    """Who the pod is made for, which is all that a transform may know besides the template.

    `labels` and `annotations` are the owner's (a PodClique, a Job); `gang` holds the annotations of
    the PodGang it belongs to. `pod_index` is None while the template of all its pods is shaped.
    """

    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    gang: Mapping[str, str] = field(default_factory=dict)
    pod_index: int | None = None


class PodTransform(Protocol):
    """Any function of this shape, kept to the laws above."""

    def __call__(self, template: PodTemplate, owner: PodOwner, /) -> PodTemplate: ...


def transformed(
    template: PodTemplate, owner: PodOwner, transforms: Iterable[PodTransform]
) -> PodTemplate:
    """The template after all transforms, in their order."""
    for transform in transforms:
        template = transform(template, owner)
    return template


def opened(spec: msgspec.Raw) -> dict[str, Any]:
    """A stored pod spec as a template holds it, every field of it."""
    found: dict[str, Any] = msgspec.json.decode(spec)
    return found


def closed(spec: Mapping[str, Any]) -> msgspec.Raw:
    """The spec as it is stored and sent."""
    return msgspec.Raw(msgspec.json.encode(spec))
