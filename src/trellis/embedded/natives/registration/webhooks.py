# SPDX-License-Identifier: Apache-2.0
"""Configurations of admission webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trellis.embedded.fielderrors import FieldError, duplicate, invalid, required
from trellis.embedded.natives.registration.rules import (
    default_rules,
    validate_conditions,
    validate_rule,
)
from trellis.embedded.natives.rules import every, needed_choice, one_of, struct
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import (
    check,
    dns1035_label,
    dns_subdomain,
    port_number,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_VERSIONS = ("v1", "v1beta1")
_ONE = f"must specify one of {', '.join(_VERSIONS)}"
_FORM = "; desired format: https://host[/path]"


class WebhookConfigurations(Native):
    @property
    def mutating(self) -> bool:
        return self.kind.startswith("Mutating")

    def default(self, new: Object) -> None:
        for hook in new.get("webhooks") or ():
            hook.setdefault("failurePolicy", "Fail")
            hook.setdefault("matchPolicy", "Equivalent")
            for name in ("namespaceSelector", "objectSelector"):
                if hook.get(name) is None:
                    hook[name] = {}
            hook.setdefault("timeoutSeconds", 10)
            if self.mutating:
                hook.setdefault("reinvocationPolicy", "Never")
            service = (hook.get("clientConfig") or {}).get("service")
            if service is not None:
                service.setdefault("port", 443)
            default_rules(hook.get("rules"))

    def check(self, new: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        names: set[str] = set()
        for position, hook in enumerate(new.get("webhooks") or ()):
            at, name = f"webhooks[{position}]", hook.get("name") or ""
            errors += self._hook(hook, at)
            versions, here = hook.get("admissionReviewVersions"), f"{at}.admissionReviewVersions"
            errors += validate_versions(versions, here) if versions else [required(here, _ONE)]
            if name and name in names:
                errors.append(duplicate(f"{at}.name", name))
            names.add(name)
        return errors

    def _hook(self, hook: dict[str, Any], path: str) -> list[FieldError]:
        errors = _HOOK(hook, path)
        if self.mutating:
            policy = hook.get("reinvocationPolicy")
            errors += one_of("IfNeeded", "Never")(policy, f"{path}.reinvocationPolicy")
        errors += _REST(hook, path)
        conditions = hook.get("matchConditions") or []
        return errors + validate_conditions(conditions, f"{path}.matchConditions")


def _qualified(name: str | None, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    if problems := dns_subdomain(name):
        return [invalid(path, name, ",".join(problems))]
    if name.count(".") < 2:
        detail = "should be a domain with at least three segments separated by dots"
        return [invalid(path, name, detail)]
    return []


def validate_versions(versions: list[str], path: str) -> list[FieldError]:
    """Of reviews that the webhook reads: one of them is one that the server writes."""
    errors: list[FieldError] = []
    for position, version in enumerate(versions):
        if version in versions[:position]:
            errors.append(invalid(f"{path}[{position}]", version, "duplicate version"))
        else:
            errors += check(dns1035_label, f"{path}[{position}]", version)
    if not any(version in _VERSIONS for version in versions):
        detail = f"must include at least one of {', '.join(_VERSIONS)}"
        errors.append(invalid(path, versions, detail))
    return errors


def validate_client(client: dict[str, Any] | None, path: str) -> list[FieldError]:
    url, service = (client or {}).get("url"), (client or {}).get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return _url(url, f"{path}.url")
    return _service(service or {}, f"{path}.service")


def _url(text: str, path: str) -> list[FieldError]:
    try:
        url = urlsplit(text)
    except ValueError as problem:
        return [required(path, f"url must be a valid URL: {problem}{_FORM}")]
    errors: list[FieldError] = []
    user, at, host = url.netloc.rpartition("@")
    if url.scheme != "https":
        detail = f"'https' is the only allowed URL scheme{_FORM}"
        errors.append(invalid(path, url.scheme, detail))
    if not host:
        errors.append(invalid(path, host, f"host must be specified{_FORM}"))
    if at:
        errors.append(invalid(path, user, "user information is not permitted in the URL"))
    if url.fragment:
        errors.append(invalid(path, url.fragment, "fragments are not permitted in the URL"))
    if url.query:
        detail = "query parameters are not permitted in the URL"
        errors.append(invalid(path, url.query, detail))
    return errors


def _service(service: dict[str, Any], path: str) -> list[FieldError]:
    errors = [required(f"{path}.{n}") for n in ("name", "namespace") if not service.get(n)]
    port = service.get("port") or 0
    if problems := port_number(port):
        detail = f"port is not valid: {', '.join(problems)}"
        errors.append(invalid(f"{path}.port", port, detail))
    text, at = service.get("path"), f"{path}.path"
    if text in {None, "", "/"}:
        return errors
    if text == "//":
        return [*errors, invalid(at, text, "segment[0] may not be empty")]
    if not text.startswith("/"):
        errors.append(invalid(at, text, "must start with a '/'"))
    for position, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(invalid(at, text, f"segment[{position}] may not be empty"))
        for problem in dns_subdomain(segment) if segment else ():
            errors.append(invalid(at, text, f"segment[{position}]: {problem}"))
    return errors


def _timeout(seconds: int | None, path: str) -> list[FieldError]:
    if seconds is None or 1 <= seconds <= 30:
        return []
    return [invalid(path, seconds, "the timeout value must be between 1 and 30 seconds")]


_HOOK = struct(
    name=_qualified,
    rules=every(validate_rule),
    failurePolicy=one_of("Fail", "Ignore"),
    matchPolicy=one_of("Equivalent", "Exact"),
)
_REST = struct(
    sideEffects=needed_choice(
        "None", "NoneOnDryRun", detail="must specify one of None, NoneOnDryRun"
    ),
    timeoutSeconds=_timeout,
    namespaceSelector=validate_selector,
    objectSelector=validate_selector,
    clientConfig=validate_client,
)
