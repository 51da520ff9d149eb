# SPDX-License-Identifier: Apache-2.0
"""How a definition says that its versions become each other. Only renaming them is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.fielderrors import FieldError, child, forbidden, not_supported, required
from trellis.embedded.natives.registration.webhooks import validate_client, validate_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object

_STRATEGIES = ("None", "Webhook")
_ALONE = "should not be set when strategy is not set to Webhook"


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
    at = child(path, "conversionReviewVersions")
    yield from validate_versions(reviews, at) if reviews else [required(at)]


def _client(client: Object | None, path: str) -> list[FieldError]:
    if client is None:
        return [required(path, "required when strategy is set to Webhook")]
    return validate_client(client, path)
