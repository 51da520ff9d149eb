# SPDX-License-Identifier: Apache-2.0
"""How access and admission see what is stored. They read; they never write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.asking import Object


class Reader(Protocol):
    """Objects as they are stored now. They are shared: whoever reads one never changes it."""

    def get(self, group: str, plural: str, namespace: str, name: str) -> Object | None: ...

    def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Object]:
        """In order of namespace and name; of all namespaces where none is named."""
