# SPDX-License-Identifier: Apache-2.0
"""What a watch wants to see. Exact wishes stand apart from selectors, to be indexed by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.embedded.store.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """All of its parts must hold; None asks for nothing. The callables must never raise."""

    namespace: str | None = None
    name: str | None = None
    pinned: tuple[str, str] | None = None
    """A selectable field and the one value it must have, such as `spec.nodeName`."""
    labels: Callable[[Mapping[str, str]], bool] | None = None
    fields: Callable[[Record], bool] | None = None

    def admits(self, record: Record) -> bool:
        return (
            (self.namespace is None or record.namespace == self.namespace)
            and (self.name is None or record.name == self.name)
            and (self.pinned is None or record.field(self.pinned[0]) == self.pinned[1])
            and (self.labels is None or self.labels(record.labels))
            and (self.fields is None or self.fields(record))
        )

    @property
    def selective(self) -> bool:
        """Whether an object can come into sight and leave it while it exists."""
        return not (self.pinned is None and self.labels is None and self.fields is None)


EVERYTHING = Interest()
