# SPDX-License-Identifier: Apache-2.0
"""What is done with custom objects when they are written: defaults, generation, validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.embedded import fielderrors
from trellis.embedded.copying import copied
from trellis.embedded.definitions.scale import validate_scale
from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.natives.metadata import validate_metadata, validate_metadata_update
from trellis.embedded.natives.syntax import label_key
from trellis.embedded.refusals import forbidden
from trellis.embedded.schema.correlate import NOTHING
from trellis.embedded.schema.default import fill_defaults
from trellis.embedded.schema.embedded import validate_embedded
from trellis.embedded.schema.lists import validate_lists
from trellis.embedded.schema.result import NOWHERE
from trellis.embedded.schema.rules import has_rules, run_rules
from trellis.embedded.schema.validate import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.asking import Object
    from trellis.embedded.schema.node import Node
    from trellis.embedded.served import Circumstances

# An error of these kinds means that the rules could not even be run sensibly.
_BLOCKING = frozenset(
    {
        fielderrors.NOT_SUPPORTED,
        fielderrors.REQUIRED,
        fielderrors.TOO_LONG,
        fielderrors.TOO_MANY,
        fielderrors.TYPE_INVALID,
    }
)
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)
_TERMINATING = "create not allowed while custom resource definition is terminating"
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


@dataclass(slots=True, kw_only=True)
class CustomStrategy:
    """Of one kind at one version. `node` is its schema as the definition has it."""

    group: str
    version: str
    kind: str
    namespaced: bool
    node: Node
    has_status: bool
    scale: Mapping[str, str] | None
    plural: str = ""
    terminating: bool = False
    """The definition is on its way out: nothing new is made."""
    _tolerated: list[str] = field(default_factory=list)
    """Warnings of the update that was validated last, until they are asked for."""

    def default(self, new: Object) -> None:
        if self._is_mine(new):
            fill_defaults(self.node, new)

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        if self.terminating:
            raise forbidden(self.group, self.plural, about.name, _TERMINATING)
        if self.has_status:
            new.pop("status", None)
            self.default(new)
        new["metadata"]["generation"] = 1

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        if about.subresource == "status":
            _keep_all_but_status(new, old)
            self._drop_no_status(new, old)
            return
        if self.has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = copied(old["status"])
        generation = old["metadata"].get("generation", 1)
        new["metadata"]["generation"] = generation + (_content(new) != _content(old))

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:  # noqa: ARG002
        if errors := self._of_kind(new):
            return errors
        errors = validate_metadata(new, self.namespaced)
        errors += validate(self.node, new)
        errors += self._scale(new, status_only=False)
        errors += validate_embedded(self.node, new)
        errors += validate_lists(self.node, new)
        return errors + self._rules(new, NOTHING, errors)

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        if errors := self._of_kind(new):
            return errors
        errors = validate_metadata_update(new, old)
        if about.subresource == "status":
            errors += self._status(new, old)
        else:
            errors += validate(self.node, new, old)
            errors += self._scale(new, status_only=False)
            errors += validate_embedded(self.node, new)
        if not validate_lists(self.node, old):
            errors += validate_lists(self.node, new)
        return errors + self._rules(new, old, errors)

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        tolerated, self._tolerated = self._tolerated, []
        before = set(old["metadata"].get("finalizers") or ()) if old else set()
        added = sorted(set(new["metadata"].get("finalizers") or ()) - before)
        return tolerated + [said for each in added for said in _finalizer_warnings(each)]

    def _is_mine(self, obj: Object) -> bool:
        mine = f"{self.group}/{self.version}"
        return obj.get("kind") == self.kind and obj.get("apiVersion") == mine

    def _of_kind(self, new: Object) -> list[FieldError]:
        wanted = {"kind": self.kind, "apiVersion": f"{self.group}/{self.version}"}
        return [
            invalid(name, new.get(name, ""), f"must be {value}")
            for name, value in wanted.items()
            if new.get(name) != value
        ]

    def _status(self, new: Object, old: Object) -> list[FieldError]:
        node = self.node.properties.get("status")
        errors: list[FieldError] = []
        if node is not None and "status" in new:
            errors = validate(node, new["status"], old.get("status", NOTHING), "status")
        return errors + self._scale(new, status_only=True)

    def _drop_no_status(self, new: Object, old: Object) -> None:
        """To a server that tolerates what was there before, null where nothing was is no change."""
        node = self.node.properties.get("status")
        told_of_none = "status" not in old and new.get("status", NOTHING) is None
        if told_of_none and node is not None and not node.nullable:
            del new["status"]

    def _scale(self, new: Object, *, status_only: bool) -> list[FieldError]:
        if self.scale is None:
            return []
        return validate_scale(self.scale, new, status_only=status_only)

    def _rules(self, new: Object, old: Any, errors: list[FieldError]) -> list[FieldError]:
        self._tolerated = []
        if not has_rules(self.node):
            return []
        if any(error.reason in _BLOCKING for error in errors):
            return [invalid(NOWHERE, None, _UNCHECKED)]
        findings = run_rules(self.node, new, old)
        self._tolerated = [str(error) for error in findings.tolerated]
        return findings.errors


def _keep_all_but_status(new: Object, old: Object) -> None:
    """A write of the status takes nothing else from what was sent, but who manages what."""
    status, managed = new.get("status"), new["metadata"].get("managedFields")
    had = "status" in new
    new.clear()
    new.update(copied(old))
    new["metadata"].pop("managedFields", None)
    if managed:
        new["metadata"]["managedFields"] = managed
    new.pop("status", None)
    if had:
        new["status"] = status


def _content(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name != "metadata"}


def _finalizer_warnings(name: str) -> list[str]:
    said = [f'metadata.finalizers: "{name}": {problem}' for problem in label_key(name)]
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        path = " including a path (/)" if "." in name else ""
        said.append(
            f'metadata.finalizers: "{name}": prefer a domain-qualified finalizer name{path} to '
            "avoid accidental conflicts with other finalizer writers"
        )
    return said
