# SPDX-License-Identifier: Apache-2.0
"""Who asks for what: the facts that authorisation and admission decide by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.served import Served

Object = dict[str, Any]

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What a request wants to do. `verb` is Kubernetes' (get, list, watch, create, …).

    `resource` may be empty (`path` then says what is wanted, such as `/healthz`).
    """

    user: User
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


@dataclass(slots=True, kw_only=True)
class Review:
    """One write on its way through admission. `new` may be changed by mutating steps.

    `operation` is CREATE, UPDATE, DELETE or CONNECT; `old` is None on CREATE, `new` on DELETE.
    """

    user: User
    served: Served
    subresource: str
    operation: str
    namespace: str
    name: str
    new: Object | None
    old: Object | None
    options: Object
    dry_run: bool
    warnings: list[str] = field(default_factory=list)

    @property
    def written(self) -> Object:
        """The object as it is to be; only a deletion has none."""
        if self.new is None:
            raise TypeError("a deletion writes no object")
        return self.new
