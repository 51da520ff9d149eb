# SPDX-License-Identifier: Apache-2.0
"""The files of an installation: a kustomize base in parts, and all of it in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.admission import webhook_configurations
from trellis.app.manifests.configuration import config_map, configuration
from trellis.app.manifests.deployment import deployment, disruption_budget, namespace
from trellis.app.manifests.flowcontrol import flow_control
from trellis.app.manifests.foundation import foundation
from trellis.app.manifests.installation import CONTROLLERS, Installation
from trellis.app.manifests.network import metrics_service, network_policy, webhook_service
from trellis.app.manifests.rbac import roles
from trellis.app.manifests.render import documents
from trellis.app.manifests.userroles import user_roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trellis.app.manifests.declarations import Component, Manifest, Webhook

INSTALL = "install.yaml"
BASE = "kustomize/base"
COMPONENTS = "kustomize/components"


def parts(
    components: Sequence[Component], installation: Installation
) -> dict[str, tuple[Manifest, ...]]:
    """All objects but the definitions, by the file that they are in, in the order to apply them."""
    webhooks = [webhook for component in components for webhook in component.webhooks]
    grants = [grant for component in components for grant in component.grants]
    shipped = config_map(installation)
    names = [component.name for component in components]
    return {
        "namespace": (namespace(installation),),
        "rbac": tuple(
            roles([*foundation(configuration(CONTROLLERS), webhooks), *grants], installation)
        ),
        "user-roles": tuple(user_roles(KINDS, installation)),
        "flow-control": tuple(flow_control(installation)),
        "network": (
            webhook_service(installation),
            metrics_service(installation),
            network_policy(installation),
        ),
        "configuration": (shipped,),
        "deployment": (
            deployment(names, shipped["metadata"]["name"], installation),
            disruption_budget(installation),
        ),
        "policies": tuple(
            _labelled(policy, installation)
            for component in components
            for policy in component.policies(installation)
        ),
        "webhooks": tuple(webhook_configurations(_always(webhooks), installation)),
    }


def files(components: Sequence[Component], installation: Installation) -> dict[str, str]:
    """The text of every file, by its path below `deploy`."""
    by_part = parts(components, installation)
    first, *others = (manifest for part in by_part.values() for manifest in part)
    # The namespace first, and the definitions before anything that names their kinds.
    installed = documents([first, *(definition(served) for served in KINDS), *others])
    return {INSTALL: installed} | base(by_part) | options(components, installation)


def options(components: Sequence[Component], installation: Installation) -> dict[str, str]:
    """The text of every file of what is not installed unless it is asked for."""
    chosen: dict[str, list[Webhook]] = {}
    for webhook in (webhook for component in components for webhook in component.webhooks):
        if webhook.optional:
            chosen.setdefault(webhook.optional, []).append(webhook)
    written = {}
    for name, webhooks in chosen.items():
        listing = {
            "apiVersion": "kustomize.config.k8s.io/v1alpha1",
            "kind": "Component",
            "resources": ["webhooks.yaml"],
        }
        made = webhook_configurations(webhooks, installation)
        written[f"{COMPONENTS}/{name}/kustomization.yaml"] = documents([listing])
        written[f"{COMPONENTS}/{name}/webhooks.yaml"] = documents(made)
    return written


def base(by_part: Mapping[str, Sequence[Manifest]]) -> dict[str, str]:
    """The text of every file of the kustomize base, by its path below `deploy`."""
    resources = {f"{part}.yaml": documents(found) for part, found in by_part.items() if found}
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(resources),
    }
    written = resources | {"kustomization.yaml": documents([kustomization])}
    return {f"{BASE}/{name}": text for name, text in written.items()}


def _always(webhooks: Iterable[Webhook]) -> list[Webhook]:
    return [webhook for webhook in webhooks if not webhook.optional]


def _labelled(policy: Manifest, installation: Installation) -> Manifest:
    metadata = installation.metadata(policy["metadata"]["name"], "policy")
    return policy | {"metadata": policy["metadata"] | metadata}
