# SPDX-License-Identifier: Apache-2.0
"""What the metadata of every object must be, of built-in and of custom kinds alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    Verbatim,
    forbidden,
    invalid,
    required,
    too_long,
)
from trellis.embedded.fields.validation import validate_entries
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.syntax import (
    Grammar,
    check,
    dns_label,
    dns_subdomain,
    label_key,
    label_value,
    path_segment,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

ANNOTATIONS_LIMIT = 256 * 1024
IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"
_OWN_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_FIXED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def validate_metadata(
    new: Object, namespaced: bool, name_problems: Grammar = dns_subdomain
) -> list[FieldError]:
    """Of an object at its creation, after its name has been drawn."""
    metadata = new.get("metadata") or {}
    errors: list[FieldError] = []
    if base := metadata.get("generateName"):
        told = _prefix_problems(name_problems, base)
        errors += [invalid("metadata.generateName", base, problem) for problem in told]
    if name := metadata.get("name"):
        errors += check(name_problems, "metadata.name", name)
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    return errors + _common(metadata, namespaced)


def _prefix_problems(name_problems: Grammar, base: str) -> tuple[str, ...]:
    """A generated name's base may end in a dash: something follows it."""
    if name_problems is path_segment:
        return () if base in {".", ".."} else path_segment(base)
    return name_problems(f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base)


def _common(metadata: dict[str, Any], namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    namespace = metadata.get("namespace")
    if namespaced:
        if namespace:
            errors += check(dns_label, "metadata.namespace", namespace)
        else:
            errors.append(required("metadata.namespace"))
    elif namespace:
        errors.append(forbidden("metadata.namespace", "not allowed on this type"))
    if (metadata.get("generation") or 0) < 0:
        errors.append(invalid("metadata.generation", metadata["generation"], NEGATIVE))
    errors += _open(metadata)
    errors += validate_finalizers(metadata.get("finalizers") or (), "metadata.finalizers")
    return errors


def _open(metadata: dict[str, Any]) -> list[FieldError]:
    """What is checked at creation and at every update."""
    errors = validate_entries(metadata.get("managedFields"))
    if labels := metadata.get("labels"):
        errors += validate_labels(labels, "metadata.labels")
    if annotations := metadata.get("annotations"):
        errors += validate_annotations(annotations, "metadata.annotations")
    if owners := metadata.get("ownerReferences"):
        errors += _owners(owners, "metadata.ownerReferences")
    return errors


def validate_labels(labels: dict[str, str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in labels.items():
        if label_key(key) or label_value(value or ""):
            errors += check(label_key, path, key) + check(label_value, path, value or "")
    return errors


def validate_annotations(annotations: dict[str, str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    size = 0
    for key, value in annotations.items():
        errors += [invalid(path, key, problem) for problem in label_key(key.lower())]
        size += len(key.encode()) + len((value or "").encode())
    return [*errors, too_long(path, ANNOTATIONS_LIMIT)] if size > ANNOTATIONS_LIMIT else errors


def validate_finalizers(finalizers: Any, path: str) -> list[FieldError]:
    errors = [error for each in finalizers for error in check(label_key, path, each)]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(path, list(finalizers), detail))
    return errors


def validate_own_finalizers(new: Object) -> list[FieldError]:
    """Built-in kinds take names without a domain only if they are Kubernetes' own."""
    detail = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"metadata.finalizers[{position}]", name, detail)
        for position, name in enumerate((new.get("metadata") or {}).get("finalizers") or ())
        if "/" not in name and name not in _OWN_FINALIZERS
    ]


def _owners(owners: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    controller = ""
    for owner in owners:
        errors += _owner(owner, path)
        if not owner.get("controller"):
            continue
        current = f"{owner.get('kind', '')}/{owner.get('name', '')}"
        if controller:
            detail = (
                "Only one reference can have Controller set to true. "
                f'Found "true" in references for {controller} and {current}'
            )
            errors.append(invalid(path, printed("[]meta.OwnerReference", owners), detail))
        controller = controller or current
    return errors


def _owner(owner: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    version = owner.get("apiVersion") or ""
    if not version.rpartition("/")[2] or version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", version, "version must not be empty"))
    for name in ("kind", "name", "uid"):
        if not owner.get(name):
            errors.append(invalid(f"{path}.{name}", "", "must not be empty"))
    if (version, owner.get("kind")) == ("v1", "Event"):
        shown = printed("meta.OwnerReference", owner)
        detail = "/v1, Kind=Event is disallowed from being an owner"
        errors.append(invalid(path, shown, detail))
    return errors


def validate_metadata_update(new: Object, old: Object) -> list[FieldError]:
    """Of an object that replaces another: what must stay is compared, the rest is checked."""
    fresh, stored = new.get("metadata") or {}, old.get("metadata") or {}
    errors: list[FieldError] = []
    if stored.get("deletionTimestamp"):
        errors += _no_new_finalizers(fresh.get("finalizers") or [], stored.get("finalizers") or [])
    if (fresh.get("generation") or 0) < (stored.get("generation") or 0):
        value = fresh.get("generation") or 0
        errors.append(invalid("metadata.generation", value, "must not be decremented"))
    for name in _FIXED:
        if fresh.get(name) != stored.get(name):
            value = fresh.get(name, "" if name in {"name", "namespace", "uid"} else None)
            errors.append(invalid(f"metadata.{name}", value, IMMUTABLE))
    return errors + _open(fresh)


def _no_new_finalizers(new: list[str], old: list[str]) -> list[FieldError]:
    extra = sorted(set(new) - set(old))
    if not extra:
        return []
    shown = ", ".join(f'"{each}"' for each in extra)
    detail = (
        "no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{shown}}}"
    )
    return [forbidden("metadata.finalizers", detail)]


def before_update(new: Object, old: Object, namespaced: bool) -> list[FieldError]:
    """What the server checks of every update before it asks the kind."""
    return [
        *validate_metadata(new, namespaced, path_segment),
        *validate_metadata_update(new, old),
    ]


def immutable(path: str, new: Any, old: Any, shape: str = "") -> list[FieldError]:
    """A field that may not change; its value is shown as the internal type, if it has one."""
    if new == old:
        return []
    shown: Any | Verbatim = printed(shape, new) if shape else new
    return [invalid(path, shown, IMMUTABLE)]


def unchanged(new: Object, old: Object, *paths: str) -> list[FieldError]:
    """Fields by their paths that may not change."""
    return [
        error
        for path in paths
        for error in immutable(path, field_of(new, path), field_of(old, path))
    ]


def field_of(held: Any, path: str) -> Any:
    for name in path.split("."):
        held = (held or {}).get(name)
    return held
