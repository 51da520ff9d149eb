# SPDX-License-Identifier: Apache-2.0
"""How a definition says that its versions become each other. Only renaming them is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trellis.embedded.fielderrors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.syntax import dns1035_label, dns_subdomain, port_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

_STRATEGIES = ("None", "Webhook")
_REVIEWS = ("v1", "v1beta1")
_ALONE = "should not be set when strategy is not set to Webhook"
_FORM = "; desired format: https://host[/path]"


def check_conversion(conversion: Object | None, path: str) -> Iterator[FieldError]:
    if conversion is None:
        return
    strategy = conversion.get("strategy") or ""
    if not strategy:
        yield required(child(path, "strategy"))
    elif strategy not in _STRATEGIES:
        yield not_supported(child(path, "strategy"), strategy, _STRATEGIES)
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        if client is not None:
            yield forbidden(child(path, "webhookClientConfig"), _ALONE)
        if reviews:
            yield forbidden(child(path, "conversionReviewVersions"), _ALONE)
        return
    yield from _client(client, child(path, "webhookClientConfig"))
    yield from _reviews(reviews, child(path, "conversionReviewVersions"))


def _client(client: Object | None, path: str) -> Iterator[FieldError]:
    if client is None:
        yield required(path, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        yield required(path, "exactly one of url or service is required")
    elif client.get("url") is not None:
        yield from _url(client["url"], child(path, "url"))
    else:
        yield from _service(client["service"], child(path, "service"))


def _url(url: str, path: str) -> Iterator[FieldError]:
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        yield required(path, f"url must be a valid URL: {problem}{_FORM}")
        return
    if parts.scheme != "https":
        yield invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not parts.netloc:
        yield invalid(path, "", f"host must be specified{_FORM}")
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        yield invalid(path, user, "user information is not permitted in the URL")
    for value, what in ((parts.fragment, "fragments"), (parts.query, "query parameters")):
        if value:
            yield invalid(path, value, f"{what} are not permitted in the URL")


def _service(service: Object, path: str) -> Iterator[FieldError]:
    for name in ("name", "namespace"):
        if not service.get(name):
            yield required(child(path, name))
    port = service.get("port", 443)
    if problems := port_number(port):
        yield invalid(child(path, "port"), port, f"port is not valid: {', '.join(problems)}")
    yield from _path(service.get("path") or "/", child(path, "path"))


def _path(said: str, path: str) -> Iterator[FieldError]:
    if said == "/":
        return
    if not said.startswith("/"):
        yield invalid(path, said, "must start with a '/'")
    for at, step in enumerate(said[1:].removesuffix("/").split("/")):
        if not step:
            yield invalid(path, said, f"segment[{at}] may not be empty")
        for problem in dns_subdomain(step) if step else ():
            yield invalid(path, said, f"segment[{at}]: {problem}")


def _reviews(versions: list[Any], path: str) -> Iterator[FieldError]:
    if not versions:
        yield required(path)
        return
    for at, version in enumerate(versions):
        if version in versions[:at]:
            yield invalid(index(path, at), version, "duplicate version")
            continue
        for problem in dns1035_label(version):
            yield invalid(index(path, at), version, problem)
    if not set(versions) & set(_REVIEWS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEWS)}")
