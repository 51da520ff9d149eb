# SPDX-License-Identifier: Apache-2.0
"""Every resource that is served now: Kubernetes' own, and those that definitions add."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.copying import copied
from trellis.embedded.core.conversion import converted
from trellis.embedded.schema.prune import prune

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from trellis.embedded.asking import Object
    from trellis.embedded.served import Served

    FieldsOf = Callable[[Served], Mapping[str, Callable[[Object], str]]]

# Served at several versions; kept at this one.
_KEPT_AT = {
    ("events.k8s.io", "events"): "v1",
    ("autoscaling", "horizontalpodautoscalers"): "autoscaling/v2",
}
# One kind of object under two groups: whoever writes either, all read both.
_SHARED_STORAGE = {("events.k8s.io", "events"): ("", "events")}


@dataclass(slots=True, kw_only=True)
class Registry:
    """Changes with definitions; `epoch` moves with each change, for whoever keeps answers."""

    natives: dict[tuple[str, str, str], Served] = field(default_factory=dict)
    customs: dict[tuple[str, str, str], Served] = field(default_factory=dict)
    selectors: FieldsOf
    """How the values of a resource's selectable fields are found in an object."""
    epoch: int = 0

    def find(self, group: str, version: str, plural: str) -> Served | None:
        key = (group, version, plural)
        return self.natives.get(key) or self.customs.get(key)

    def versions(self, group: str, plural: str) -> list[Served]:
        """One resource at every version that serves it, the best first."""
        return [each for each in self if (each.group, each.plural) == (group, plural)]

    def of_kind(self, group: str, kind: str, version: str = "") -> Served | None:
        """The resource of a kind: at that version, or at the best there is."""
        for served in self:
            if served.group == group and served.kind == kind and version in {"", served.version}:
                return served
        return None

    def define(self, group: str, plural: str, versions: Iterable[Served]) -> None:
        """Sets what a definition serves now; none at all takes the resource away."""
        stale = [key for key in self.customs if (key[0], key[2]) == (group, plural)]
        for key in stale:
            del self.customs[key]
        for served in versions:
            self.customs[served.group, served.version, served.plural] = served
        self.epoch += 1

    def is_native_group(self, group: str) -> bool:
        return any(key[0] == group for key in self.natives)

    def stored_as(self, served: Served) -> tuple[str, str]:
        key = (served.group, served.plural)
        return _SHARED_STORAGE.get(key, key)

    def kept_at(self, served: Served) -> str:
        """The apiVersion under which objects of that resource are stored."""
        if served.custom:
            return f"{served.group}/{served.storage_version}"
        return _KEPT_AT.get((served.group, served.plural), served.api_version)

    def to_storage(self, served: Served, new: Object) -> Object:
        kept = self.kept_at(served)
        if kept == served.api_version:
            return new
        stored = converted(copied(new), kept)
        other = self.find(served.group, served.storage_version, served.plural)
        if other is not None and other.custom:
            prune(other.schema, stored)
        return stored

    def read_as(self, served: Served, stored: Object) -> Object:
        """What is stored, as a version shows it: converted, and what is custom defaulted anew."""
        shown = stored
        if stored["apiVersion"] != served.api_version:
            shown = converted(stored, served.api_version)
        if served.custom:
            prune(served.schema, shown)
            served.strategy.default(shown)
        return shown

    def fields_of(self, served: Served, stored: Object) -> dict[str, str]:
        """The values of the fields that objects of that resource can be selected by.

        What is kept once and served by two groups can be selected by the names of both.
        """
        found = {name: value(stored) for name, value in self.selectors(served).items()}
        for other in self._twins(served):
            shown = converted(stored, other.api_version)
            found.update((name, value(shown)) for name, value in self.selectors(other).items())
        return found

    def _twins(self, served: Served) -> list[Served]:
        keys = [key for key, kept in _SHARED_STORAGE.items() if kept == self.stored_as(served)]
        groups = {group for key in keys for group in (key, _SHARED_STORAGE[key])}
        return [each for key in sorted(groups) for each in self.versions(*key)]

    def __iter__(self) -> Iterator[Served]:
        yield from self.natives.values()
        yield from self.customs.values()
