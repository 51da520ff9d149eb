# SPDX-License-Identifier: Apache-2.0
"""Webhooks as they are configured, in a form that is quick to ask. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.admission.conditions import Conditions
from trellis.embedded.admission.selection import Selectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trellis.embedded.asking import Object

HARMLESS = frozenset({"None", "NoneOnDryRun"})
REVIEW_VERSIONS = ("v1", "v1beta1")
_DEFAULT_SECONDS = 10
_HTTPS = 443


@dataclass(frozen=True, slots=True)
class Service:
    namespace: str
    name: str
    path: str
    port: int


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is served. `bundle` is PEM in base64, of the authorities to trust."""

    webhook: str
    url: str
    service: Service | None
    bundle: str

    @classmethod
    def of(cls, webhook: str, config: Mapping[str, Any]) -> Client:
        bundle = config.get("caBundle") or ""
        named = config.get("service")
        if named is None:
            return cls(webhook, config.get("url") or "", None, bundle)
        path = named.get("path") or ""
        path = path if not path or path.startswith("/") else f"/{path}"
        service = Service(named["namespace"], named["name"], path, named.get("port") or _HTTPS)
        url = f"https://{service.name}.{service.namespace}.svc:{service.port}{path}"
        return cls(webhook, url, service, bundle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One entry of a configuration. `identity` tells it from others of the same name."""

    name: str
    identity: str
    rules: Sequence[Mapping[str, Any]]
    equivalent: bool
    selectors: Selectors
    conditions: Conditions
    may_fail: bool
    seconds: int
    side_effects: str
    again: bool
    version: str
    client: Client


def hooks(configurations: Iterable[Object]) -> Iterator[Hook]:
    """In the order in which they are called: by the configuration's name, then as written."""
    for configuration in sorted(configurations, key=lambda each: str(each["metadata"]["name"])):
        name = configuration["metadata"]["name"]
        for number, entry in enumerate(configuration.get("webhooks") or ()):
            yield _hook(entry, f"{name}/{entry['name']}/{number}")


def _hook(entry: Mapping[str, Any], identity: str) -> Hook:
    may_fail = entry.get("failurePolicy") == "Ignore"
    offered = entry.get("admissionReviewVersions") or ()
    return Hook(
        name=entry["name"],
        identity=identity,
        rules=tuple(entry.get("rules") or ()),
        equivalent=entry.get("matchPolicy", "Equivalent") == "Equivalent",
        selectors=Selectors.of(entry),
        conditions=Conditions.of(entry.get("matchConditions") or (), may_fail=may_fail),
        may_fail=may_fail,
        seconds=entry.get("timeoutSeconds") or _DEFAULT_SECONDS,
        side_effects=entry.get("sideEffects") or "",
        again=entry.get("reinvocationPolicy") == "IfNeeded",
        version=next((each for each in offered if each in REVIEW_VERSIONS), ""),
        client=Client.of(entry["name"], entry.get("clientConfig") or {}),
    )
