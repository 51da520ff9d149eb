# SPDX-License-Identifier: Apache-2.0
"""What all built-in kinds have in common; a kind with rules of its own overrides a method.

Objects are plain dicts, already decoded and normalised. Nothing here reads a clock or the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from trellis.embedded.copying import copied
from trellis.embedded.natives.facts import Facts, facts_of
from trellis.embedded.natives.metadata import (
    validate_metadata,
    validate_metadata_update,
    validate_own_finalizers,
)
from trellis.embedded.natives.numbers import not_negative
from trellis.embedded.natives.rules import Rule, anything

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.fielderrors import FieldError
    from trellis.embedded.served import Circumstances


class Native:
    """The strategy of one built-in kind.

    Of an update through `status` only the status is taken, and of the metadata what the kind lets
    through; an update of the object itself never touches its status. Subclasses have `rules`, or
    override `check` (what must hold at creation and after every change of the object),
    `check_update` (what may not change) and `check_status`.
    """

    rules: ClassVar[Rule] = anything
    counters: ClassVar[tuple[str, ...]] = ()
    """Numbers of the status that are never negative."""

    def __init__(self, group: str, kind: str) -> None:
        self.group = group
        self.kind = kind
        self.facts: Facts = facts_of(group, kind)

    def default(self, new: Object) -> None:
        """Nothing, for most kinds."""

    def prepare_create(self, new: Object, about: Circumstances) -> None:  # noqa: ARG002 - as Strategy has it
        if self.facts.counted:
            new["metadata"]["generation"] = 1
        if self.facts.status is not None:
            new["status"] = copied(dict(self.facts.status))

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        keep(new["metadata"], old["metadata"], "generation")
        if about.subresource == "status":
            self.prepare_status(new, old)
            return
        if self.facts.status is not None:
            keep(new, old, "status")
        self.prepare_main(new, old)
        if self.facts.counted and self.changed(new, old):
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def prepare_main(self, new: Object, old: Object) -> None:
        """What an update of the object leaves as it was."""

    def prepare_status(self, new: Object, old: Object) -> None:
        for name in {*new, *old} - {"apiVersion", "kind", "metadata", "status"}:
            keep(new, old, name)
        for name in self.facts.status_keeps:
            keep(new["metadata"], old["metadata"], name)

    def changed(self, new: Object, old: Object) -> bool:
        """Whether the update is a new generation."""
        return any(new.get(name) != old.get(name) for name in self.facts.counted)

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        return [
            *validate_metadata(new, bool(about.namespace), self.facts.names),
            *(validate_own_finalizers(new) if self.facts.own_finalizers else ()),
            *self.check(new),
        ]

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        # The core has asked `before_update` already; nearly every kind checks metadata again.
        errors = validate_metadata_update(new, old)
        if self.facts.own_finalizers:
            errors += validate_own_finalizers(new)
        if about.subresource == "status":
            return errors + self.check_status(new, old)
        return errors + self.check_update(new, old)

    def check(self, new: Object) -> list[FieldError]:
        return type(self).rules(new, "")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        return self.check(new)

    def check_status(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        return not_negative(new.get("status") or {}, self.counters, "status")

    def warnings(self, new: Object, old: Object | None) -> list[str]:  # noqa: ARG002
        return []


def keep(new: dict[str, Any], old: dict[str, Any], name: str) -> None:
    """The field as it was; absent if it was absent."""
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)
