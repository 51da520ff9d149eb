# SPDX-License-Identifier: Apache-2.0
"""A resource as it is served at one version, and what is special about its kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.embedded.asking import Object
    from trellis.embedded.fielderrors import FieldError
    from trellis.embedded.schema.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a strategy may need beside the object itself. It reads; it never writes."""

    now: str
    """This second, as objects write it: `2026-01-01T00:00:00Z`."""
    namespace: str
    name: str
    subresource: str
    user: Any
    random: Any
    """The dice of the cluster, for what a kind draws (cluster IPs, node ports)."""
    read: Any
    """`read(group, plural, namespace, name)`: what is stored, for rare look-ups."""


class Strategy(Protocol):
    """What one kind does differently. Objects are plain dicts, changed in place by the first three.

    The order of a write: decode, `default`, mutating admission, `default` again, `prepare_*`,
    `validate_*`, validating admission, store. `subresource` is in the circumstances.
    """

    def default(self, new: Object) -> None: ...

    def prepare_create(self, new: Object, about: Circumstances) -> None: ...

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None: ...

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]: ...

    def validate_update(
        self, new: Object, old: Object, about: Circumstances
    ) -> list[FieldError]: ...

    def warnings(self, new: Object, old: Object | None) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """Where kinds differ in how they are updated and deleted."""

    created_by_update: bool = False
    """A PUT of what is not there makes it."""
    unconditional: bool = True
    """An update need not name the resourceVersion it was made from."""
    returns_deleted: bool = False
    """A DELETE is answered with the object that went, not with a Status."""
    orphans_by_default: bool = False
    """Without a policy the dependents of what is deleted stay."""
    grace: Callable[[Object, int | None], int] | None = None
    """Seconds that a deletion waits, of the object and what was asked for; None: kinds without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Built-in kinds come from data of the real server, custom ones from their definition."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    schema: Node
    strategy: Strategy
    list_kind: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name (`status`, `scale`, `binding` …): what discovery says of it, and for `scale` of a
    custom kind its JSON paths under `paths`."""
    custom: bool = False
    columns: tuple[Mapping[str, Any], ...] = ()
    """Printer columns of a custom kind, as its definition writes them."""
    selectable: tuple[str, ...] = ()
    """Field selectors beside metadata.name and metadata.namespace."""
    storage_version: str = ""
    deprecation: str = ""
    """What every answer warns of, if this version is deprecated."""
    since: int = 0
    """The store's version when its definition last changed: what is older is read anew."""
    manners: Manners = Manners()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources

    @property
    def registry_prefix(self) -> str:
        """Where the real server keeps such objects; it shows in some of its messages."""
        return f"{self.group}/{self.plural}" if self.custom else self.plural
