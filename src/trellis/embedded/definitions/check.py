# SPDX-License-Identifier: Apache-2.0
"""Whether a CustomResourceDefinition may be written, in the words of the real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.definitions.approval import check_approval
from trellis.embedded.definitions.columns import check_column, check_scale, check_selectable
from trellis.embedded.definitions.conversion import check_conversion
from trellis.embedded.definitions.costs import Costs
from trellis.embedded.definitions.defaults import check_defaults
from trellis.embedded.definitions.internal import Part, parts, printed_versions
from trellis.embedded.definitions.openapi import Within, check_schema
from trellis.embedded.definitions.served import is_true
from trellis.embedded.definitions.structure import check_structure
from trellis.embedded.fielderrors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.metadata import (
    IMMUTABLE,
    validate_metadata,
    validate_metadata_update,
)
from trellis.embedded.natives.syntax import dns1035_label, dns_subdomain
from trellis.embedded.schema.embedded import MIXED_CASE
from trellis.embedded.schema.node import structural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

_SCOPES = ("Cluster", "Namespaced")
_NO_ROOT_TYPE = (
    'only "object" is allowed as the type at the root of the schema if the status subresource is '
    "enabled"
)
_NAMED = 'must be spec.names.plural+"."+spec.group'
_PRESERVED = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
    "spec.versions[*].schema instead"
)
_WARNING_LIMIT = 256
# Kinds may have capitals, which a message then says first.
_SINGLE_NAMES = {"plural": "", "singular": "", "kind": MIXED_CASE, "listKind": MIXED_CASE}


def check(new: Object, old: Object | None) -> list[FieldError]:
    """Of a new definition, or of a change to an old one."""
    if old is None:
        errors = validate_metadata(new, False, _grammar(new["spec"]))
    else:
        errors = validate_metadata_update(new, old)
    errors += _spec(new["spec"], old["spec"] if old else None)
    if old is not None:
        errors += _fixed(new["spec"], old)
    errors += check_status(new)
    errors += _stored(new)
    errors += check_approval(new, old)
    if new["spec"].get("preserveUnknownFields"):
        errors.append(invalid("spec.preserveUnknownFields", True, _PRESERVED))
    return errors


def check_status(new: Object) -> list[FieldError]:
    accepted = new["status"].get("acceptedNames") or {}
    return list(_names(accepted, "status.acceptedNames"))


def _grammar(spec: Object) -> Any:
    wanted = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"

    def grammar(name: str) -> tuple[str, ...]:
        return (*dns_subdomain(name), *(() if name == wanted else (_NAMED,)))

    return grammar


def _fixed(spec: Object, old: Object) -> Iterator[FieldError]:
    """What may never change, and what may not once the definition is established."""
    before = old["spec"]
    kept = [("spec.group", spec, before, "group")]
    names = (spec["names"], before["names"])
    if is_true(old, "Established"):
        kept += [("spec.scope", spec, before, "scope"), ("spec.names.kind", *names, "kind")]
    kept.append(("spec.names.plural", *names, "plural"))
    for path, now, then, name in kept:
        if now.get(name) != then.get(name):
            yield invalid(path, now.get(name), IMMUTABLE)


def _spec(spec: Object, old: Object | None) -> Iterator[FieldError]:
    yield from _group(spec.get("group") or "")
    scope = spec.get("scope") or ""
    if not scope:
        yield required("spec.scope")
    elif scope not in _SCOPES:
        yield not_supported("spec.scope", scope, _SCOPES)
    versions: list[Object] = spec.get("versions") or []
    for at, version in enumerate(versions):
        where = index("spec.versions", at)
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            yield required(child(where, "schema.openAPIV3Schema"))
        yield from _version(version, where)
    unchanged = {name for name, schema in _schemas(spec) if (name, schema) in _schemas(old or {})}
    for part in parts(spec):
        yield from _part(part, unchanged)
    yield from _versions(spec, versions)
    yield from _required_names(spec["names"])
    yield from _names(spec["names"], "spec.names")
    yield from check_conversion(spec.get("conversion"), "spec.conversion")


def _schemas(spec: Object) -> list[tuple[str, Any]]:
    return [(each.get("name", ""), each.get("schema")) for each in spec.get("versions") or ()]


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif problems := dns_subdomain(group):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _version(version: Object, path: str) -> Iterator[FieldError]:
    if problems := dns1035_label(version.get("name") or ""):
        yield invalid(child(path, "name"), version.get("name") or "", ",".join(problems))
    warning = version.get("deprecationWarning")
    for problem in _deprecation(warning, deprecated=bool(version.get("deprecated"))):
        yield invalid(child(path, "deprecationWarning"), warning, problem)


def _deprecation(warning: str | None, *, deprecated: bool) -> Iterator[str]:
    if warning is None:
        return
    if not deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode()) > _WARNING_LIMIT:
        yield f"must be <= {_WARNING_LIMIT} characters long"
    if not warning:
        yield "must not be an empty string"
    at = next((at for at, character in enumerate(warning) if not character.isprintable()), None)
    if at is not None:
        yield (
            "must only contain printable UTF-8 characters; non-printable character found at "
            f"index {len(warning[:at].encode())}"
        )


def _part(part: Part, unchanged: set[str]) -> Iterator[FieldError]:
    if part.schema is not None:
        yield from _schema(part, bounded=not set(part.names[:1]) & unchanged)
    if part.subresources and "scale" in part.subresources:
        yield from check_scale(part.subresources["scale"], child(part.path, "subresources"))
    for at, column in enumerate(part.columns):
        yield from check_column(column, index(child(part.path, "additionalPrinterColumns"), at))
    if part.selectable and part.schema is not None:
        node = structural(part.schema)
        yield from check_selectable(part.selectable, node, child(part.path, "selectableFields"))


def _schema(part: Part, *, bounded: bool) -> Iterator[FieldError]:
    """Rules are compiled only in a schema that is sound in all else."""
    schema, path = part.schema or {}, child(part.schema_path, "openAPIV3Schema")
    if schema.get("nullable"):
        yield forbidden(child(path, "nullable"), "nullable cannot be true at the root")
    if part.has_status and schema.get("type") not in (None, "", "object"):
        yield invalid(child(path, "type"), schema["type"], _NO_ROOT_TYPE)
    costs = None
    if _convertible(schema):
        errors = check_structure(schema, path) or check_defaults(structural(schema), path)
        yield from errors
        costs = None if errors else Costs(bounded=bounded)
    yield from check_schema(schema, path, Within(root=True, costs=costs))
    if costs is not None:
        yield from costs.too_much(part.schema_path)


def _convertible(schema: Any) -> bool:
    """Whether the schema has the shape that a structural one is made of at all."""
    if not isinstance(schema, dict):
        return True
    if isinstance(schema.get("items"), list):
        return False
    inside = [*(schema.get("properties") or {}).values(), schema.get("items")]
    inside.append(schema.get("additionalProperties"))
    return all(_convertible(each) for each in inside)


def _versions(spec: Object, versions: list[Object]) -> Iterator[FieldError]:
    names = [version.get("name", "") for version in versions]
    if len(set(names)) != len(names):
        why = "must contain unique version names"
        yield invalid("spec.versions", printed_versions(spec), why)
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", printed_versions(spec), why)
    if names and names[0] and (problems := dns1035_label(names[0])):
        yield invalid("spec.version", names[0], ",".join(problems))


def _required_names(names: Object) -> Iterator[FieldError]:
    for name in ("plural", "singular", "kind", "listKind"):
        if not names.get(name):
            yield required(f"spec.names.{name}")


def _names(names: Object, path: str) -> Iterator[FieldError]:
    for name, lead in _SINGLE_NAMES.items():
        said = names.get(name) or ""
        if said and (problems := dns1035_label(said.lower() if lead else said)):
            yield invalid(child(path, name), said, lead + ",".join(problems))
    for name in ("shortNames", "categories"):
        for at, said in enumerate(names.get(name) or ()):
            if problems := dns1035_label(said):
                yield invalid(index(child(path, name), at), said, ",".join(problems))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        why = "kind and listKind may not be the same"
        yield invalid(child(path, "listKind"), names["listKind"], why)


def _stored(new: Object) -> Iterator[FieldError]:
    path = "status.storedVersions"
    stored: list[str] = new["status"].get("storedVersions") or []
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    versions = new["spec"].get("versions") or ()
    for version in versions:
        if version.get("storage") and version["name"] not in stored:
            yield invalid(path, stored, f"must have the storage version {version['name']}")
    names = {version["name"] for version in versions}
    for at, name in enumerate(stored):
        if name not in names:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions"
            )
            yield invalid(index(path, at), name, why)
