# SPDX-License-Identifier: Apache-2.0
"""Config maps, secrets, limit ranges and quotas."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
)
from trellis.embedded.natives.metadata import immutable, unchanged
from trellis.embedded.natives.quantities import check_amount, rounded_to_milli
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, config_key, label_key

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_MOST_BYTES = 1024 * 1024
_FIXED = "field is immutable when `immutable` is set"
_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_DOCKER = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
_ACCOUNT = "kubernetes.io/service-account.name"
_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


class _Sealable(Native):
    """What can be declared immutable."""

    parts: tuple[str, ...] = ("data", "binaryData")

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if old.get("immutable"):
            if not new.get("immutable"):
                errors.append(forbidden("immutable", _FIXED))
            for name in self.parts:
                if (new.get(name) or {}) != (old.get(name) or {}):
                    errors.append(forbidden(name, _FIXED))
        return errors + self.check(new)


class ConfigMaps(_Sealable):
    def check(self, new: Object) -> list[FieldError]:
        text, binary = new.get("data") or {}, new.get("binaryData") or {}
        errors: list[FieldError] = []
        for key in text:
            errors += check(config_key, f"data[{key}]", key)
            if key in binary:
                detail = "duplicate of key present in binaryData"
                errors.append(invalid(f"data[{key}]", key, detail))
        for key in binary:
            errors += check(config_key, f"binaryData[{key}]", key)
        size = sum(len((value or "").encode()) for value in text.values())
        size += sum(_decoded_size(value or "") for value in binary.values())
        return [*errors, too_long("[]", _MOST_BYTES)] if size > _MOST_BYTES else errors


def _decoded_size(value: str) -> int:
    return len(value) * 3 // 4 - value.count("=", -2)


class Secrets(_Sealable):
    parts = ("data",)

    def default(self, new: Object) -> None:
        new["type"] = new.get("type") or "Opaque"
        if given := new.pop("stringData", None):
            encoded = {k: base64.b64encode(v.encode()).decode() for k, v in given.items()}
            new["data"] = {**(new.get("data") or {}), **encoded}

    def prepare_main(self, new: Object, old: Object) -> None:
        # Clients that do not know the type leave it out, and keep it.
        if not new.get("type"):
            new["type"] = old.get("type") or "Opaque"

    def check(self, new: Object) -> list[FieldError]:
        data, kind = new.get("data") or {}, new.get("type") or ""
        errors: list[FieldError] = []
        for key in data:
            errors += check(config_key, f"data[{key}]", key)
        if sum(_decoded_size(value or "") for value in data.values()) > _MOST_BYTES:
            errors.append(too_long("data", _MOST_BYTES))
        return errors + _typed(kind, data, new["metadata"])

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fixed = immutable("type", new.get("type"), old.get("type"))
        return fixed + super().check_update(new, old)


def _typed(kind: str, data: dict[str, str], metadata: dict[str, Any]) -> list[FieldError]:
    if kind == "kubernetes.io/service-account-token":
        annotations = metadata.get("annotations") or {}
        at = f"metadata.annotations[{_ACCOUNT}]"
        return [] if annotations.get(_ACCOUNT) else [required(at)]
    if kind == "kubernetes.io/basic-auth":
        names = ("username", "password")
        missing = not any(name in data for name in names)
        return [required(f"data[{name}]") for name in names] if missing else []
    if kind in _KEYS:
        return [required(f"data[{name}]") for name in _KEYS[kind] if name not in data]
    if kind in _DOCKER:
        at = f"data[{_DOCKER[kind]}]"
        return _json(data[_DOCKER[kind]], at) if _DOCKER[kind] in data else [required(at)]
    return []


def _json(encoded: str, path: str) -> list[FieldError]:
    content = base64.b64decode(encoded or "").decode(errors="replace")
    try:
        json.loads(content)
    except json.JSONDecodeError as problem:
        rest = content[problem.pos : problem.pos + 1]
        said = (
            f"invalid character '{rest}' looking for beginning of value"
            if rest
            else "unexpected end of JSON input"
        )
        return [invalid(path, "<secret contents redacted>", said)]
    return []


class LimitRanges(Native):
    def default(self, new: Object) -> None:
        for item in (new.get("spec") or {}).get("limits") or ():
            for name in _BOUNDS:
                if item.get(name):
                    rounded_to_milli(item[name])
            if item.get("type") == "Container":
                usual = {**(item.get("max") or {}), **(item.get("default") or {})}
                asked = {**(item.get("min") or {}), **usual, **(item.get("defaultRequest") or {})}
                for name, amounts in (("default", usual), ("defaultRequest", asked)):
                    if amounts:
                        item[name] = amounts


class ResourceQuotas(Native):
    def default(self, new: Object) -> None:
        if hard := (new.get("spec") or {}).get("hard"):
            rounded_to_milli(hard)

    def check(self, new: Object) -> list[FieldError]:
        return [
            error
            for name, amount in ((new.get("spec") or {}).get("hard") or {}).items()
            for error in (
                *check(label_key, f"spec.hard[{name}]", name),
                *check_amount(name, amount, f"spec.hard[{name}]"),
            )
        ]

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.check(new) + unchanged(new, old, "spec.scopes")
