# SPDX-License-Identifier: Apache-2.0
"""The strategy of the kind CustomResourceDefinition itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.definitions.check import check, check_status
from trellis.embedded.definitions.served import schema_of
from trellis.embedded.natives.metadata import validate_metadata_update
from trellis.embedded.schema import formats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object
    from trellis.embedded.fielderrors import FieldError
    from trellis.embedded.served import Circumstances

_HTTPS = 443


class DefinitionStrategy:
    """Names that follow from others are filled in; the status is the server's own."""

    def default(self, new: Object) -> None:
        spec = new["spec"]
        names = spec.setdefault("names", {})
        kind = names.get("kind") or ""
        if kind and not names.get("singular"):
            names["singular"] = kind.lower()
        if kind and not names.get("listKind"):
            names["listKind"] = f"{kind}List"
        conversion = spec.setdefault("conversion", {"strategy": "None"})
        client = (conversion.get("webhook") or {}).get("clientConfig") or {}
        if client.get("service") is not None:
            client["service"].setdefault("port", _HTTPS)
        status = new.setdefault("status", {})
        if not status.get("storedVersions"):
            status["storedVersions"] = _storage_version(spec)

    def prepare_create(self, new: Object, about: Circumstances) -> None:  # noqa: ARG002
        new["status"] = {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": _storage_version(new["spec"]),
        }
        new["metadata"]["generation"] = 1

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        if about.subresource == "status":
            new["spec"] = copied(old["spec"])
            return
        new["status"] = status = copied(old["status"])
        changed = new["spec"] != old["spec"]
        new["metadata"]["generation"] = old["metadata"].get("generation", 1) + changed
        stored: list[str] = status.get("storedVersions") or []
        status["storedVersions"] = stored + [
            name for name in _storage_version(new["spec"]) or () if name not in stored
        ]

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:  # noqa: ARG002
        return check(new, None)

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        if about.subresource == "status":
            return validate_metadata_update(new, old) + check_status(new)
        return check(new, old)

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        before = set(_unknown_formats(old)) if old is not None else set()
        named = dict.fromkeys(_unknown_formats(new))
        return [f'unrecognized format "{name}"' for name in named if name not in before]


def _storage_version(spec: Object) -> list[str] | None:
    for version in spec.get("versions") or ():
        if version.get("storage"):
            return [version["name"]]
    return None


def _unknown_formats(crd: Object) -> Iterator[str]:
    for version in crd["spec"].get("versions") or ():
        yield from _formats(schema_of(version))


def _formats(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    name = schema.get("format")
    if name and not formats.known(schema.get("type") or "", name):
        yield name
    for inner in (schema.get("properties") or {}).values():
        yield from _formats(inner)
    for keyword in ("items", "additionalProperties", "not"):
        yield from _formats(schema.get(keyword))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for inner in schema.get(keyword) or ():
            yield from _formats(inner)
