# SPDX-License-Identifier: Apache-2.0
"""What admission may ask the rest of the server: what is stored, what is served, who may what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.embedded.access.reading import Reader
    from trellis.embedded.asking import Attributes
    from trellis.embedded.served import Served

    Authorize = Callable[[Attributes], tuple[bool, str]]


class Catalogue(Protocol):
    """The resources that are served; `epoch` moves when they change."""

    epoch: int

    def __iter__(self) -> Iterator[Served]: ...

    def find(self, group: str, version: str, plural: str) -> Served | None: ...

    def of_kind(self, group: str, kind: str, version: str = "") -> Served | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    reader: Reader
    catalogue: Catalogue
    authorize: Authorize
