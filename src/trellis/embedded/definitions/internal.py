# SPDX-License-Identifier: Apache-2.0
"""A definition as the server holds it inside: what all versions have in common is said once.

Its messages name fields of this form, such as `spec.validation.openAPIV3Schema`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded.fielderrors import Verbatim

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one version has of its own, or all of them together; `path` is where messages say so."""

    path: str
    schema: Object | None = None
    subresources: Object | None = None
    columns: tuple[Object, ...] = ()
    selectable: tuple[Object, ...] = ()
    names: tuple[str, ...] = ()
    """The versions it is about."""

    @property
    def schema_path(self) -> str:
        """The schema of all versions has another name inside."""
        return f"{self.path}.validation" if self.path == "spec" else f"{self.path}.schema"

    @property
    def has_status(self) -> bool:
        return "status" in (self.subresources or {})


_SHARED = {
    "schema": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "columns",
    "selectableFields": "selectable",
}


def parts(spec: Object) -> list[Part]:
    """First what all versions share, then each version with what is its own."""
    versions: list[Object] = spec.get("versions") or []
    shared = {name for name in _SHARED if _same(versions, name)}
    found = []
    if versions:
        names = tuple(version.get("name", "") for version in versions)
        found.append(_part("spec", versions[0], shared, names))
    for at, version in enumerate(versions):
        own = set(_SHARED) - shared
        found.append(_part(f"spec.versions[{at}]", version, own, (version.get("name", ""),)))
    return found


def _same(versions: list[Object], name: str) -> bool:
    return bool(versions) and all(each.get(name) == versions[0].get(name) for each in versions)


def _part(path: str, version: Object, which: set[str], names: tuple[str, ...]) -> Part:
    def given(name: str) -> Any:
        return version.get(name) if name in which else None

    return Part(
        path=path,
        schema=(given("schema") or {}).get("openAPIV3Schema"),
        subresources=given("subresources"),
        columns=tuple(given("additionalPrinterColumns") or ()),
        selectable=tuple(given("selectableFields") or ()),
        names=names,
    )


def printed_versions(spec: Object) -> Verbatim:
    """The versions as messages show them, with Go's names and what is shared left out."""
    versions: list[Object] = spec.get("versions") or []
    own = {name for name in _SHARED if not _same(versions, name)}
    shown = [
        {
            "Name": version.get("name", ""),
            "Served": version.get("served", False),
            "Storage": version.get("storage", False),
            "Deprecated": version.get("deprecated", False),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": version.get("schema") if "schema" in own else None,
            "Subresources": version.get("subresources") if "subresources" in own else None,
            "AdditionalPrinterColumns": version.get("additionalPrinterColumns")
            if "additionalPrinterColumns" in own
            else None,
            "SelectableFields": version.get("selectableFields")
            if "selectableFields" in own
            else None,
        }
        for version in versions
    ]
    return Verbatim(msgspec.json.encode(shown).decode())


def printed_rule(rule: Object) -> Verbatim:
    shown = {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    return Verbatim(msgspec.json.encode(shown).decode())
