# SPDX-License-Identifier: Apache-2.0
"""Selectors of webhooks and policies: by labels of the object and of its namespace. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.selectors import LabelSelector, matcher
from trellis.embedded.refusals import not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.api.selectors import Matcher
    from trellis.embedded.asking import Object, Review

    NamespaceOf = Callable[[str], Object | None]


def compiled(selector: Any) -> Matcher | None:
    """None for one that lets everything through."""
    if not selector or not any(selector.values()):
        return None
    return matcher(msgspec.convert(selector, LabelSelector))


@dataclass(frozen=True, slots=True)
class Selectors:
    namespaces: Matcher | None
    objects: Matcher | None

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Selectors:
        return cls(compiled(entry.get("namespaceSelector")), compiled(entry.get("objectSelector")))

    def select(self, review: Review, namespace_of: NamespaceOf) -> bool:
        """Raises 404 where the namespace must be looked at and is not there."""
        return self._namespace(review, namespace_of) and self._object(review)

    def _namespace(self, review: Review, namespace_of: NamespaceOf) -> bool:
        itself = review.served.plural == "namespaces"
        if self.namespaces is None or not (review.namespace or itself):
            return True
        if itself and not review.subresource and review.operation in ("CREATE", "UPDATE"):
            # What is stored is not yet, or no more, what the namespace will be.
            return self.namespaces(labels(review.new))
        where = review.namespace or review.name
        namespace = namespace_of(where)
        if namespace is None:
            raise not_found("", "namespaces", where)
        return self.namespaces(labels(namespace))

    def _object(self, review: Review) -> bool:
        if self.objects is None:
            return True
        return any(
            item is not None and self.objects(labels(item)) for item in (review.new, review.old)
        )


def labels(item: Object | None) -> Mapping[str, str]:
    metadata = (item or {}).get("metadata") or {}
    return metadata.get("labels") or {}
