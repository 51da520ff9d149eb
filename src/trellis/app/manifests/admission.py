# SPDX-License-Identifier: Apache-2.0
"""The webhook configurations, as they are before the operator has filled in its authorities."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from trellis.app.manifests.declarations import MatchCondition, WebhookKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.app.manifests.declarations import Manifest, Rule, Webhook
    from trellis.app.manifests.installation import Installation

SERVICE_PORT = 443


def webhook_configurations(
    webhooks: Iterable[Webhook], installation: Installation
) -> Iterator[Manifest]:
    configurations: dict[tuple[str, str], list[Webhook]] = defaultdict(list)
    for webhook in webhooks:
        configurations[webhook.kind.value, webhook.configuration].append(webhook)
    for (kind, name), members in sorted(configurations.items()):
        yield {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": installation.metadata(name, name),
            "webhooks": [
                _webhook(member, installation)
                for member in sorted(members, key=lambda one: one.name)
            ],
        }


def _webhook(webhook: Webhook, installation: Installation) -> Manifest:
    """No `caBundle`: what is left out is kept when these are applied again."""
    service = {
        "namespace": installation.namespace,
        "name": installation.name,
        "path": webhook.path,
        "port": SERVICE_PORT,
    }
    return {
        "name": webhook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "failurePolicy": webhook.failure_policy.value,
        # Grove says Exact, which a request through a version added later would slip past. With
        # one version of each kind the two are the same.
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout_seconds,
        **_reinvocation(webhook.kind),
        **_selection(webhook),
        "rules": [_rule(rule) for rule in webhook.rules],
        "matchConditions": [
            {"name": one.name, "expression": one.expression}
            for one in _conditions(webhook, installation)
        ],
    }


def _selection(webhook: Webhook) -> Manifest:
    return {"objectSelector": {"matchLabels": dict(webhook.labels)}} if webhook.labels else {}


def _conditions(webhook: Webhook, installation: Installation) -> Iterator[MatchCondition]:
    yield from webhook.conditions
    if webhook.spares_operator:
        account = f"system:serviceaccount:{installation.namespace}:{installation.name}"
        yield MatchCondition(
            name="not-the-operator", expression=f"request.userInfo.username != '{account}'"
        )


def _reinvocation(kind: WebhookKind) -> Manifest:
    """What another webhook adds after us needs our defaults too."""
    return {"reinvocationPolicy": "IfNeeded"} if kind is WebhookKind.MUTATING else {}


def _rule(rule: Rule) -> Manifest:
    resource = rule.resource
    return {
        "apiGroups": [resource.group],
        "apiVersions": [resource.version],
        "resources": ["/".join(filter(None, (resource.plural, rule.subresource)))],
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "operations": list(rule.operations),
    }
