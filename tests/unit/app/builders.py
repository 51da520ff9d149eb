# SPDX-License-Identifier: Apache-2.0
"""What is installed, as tests look at it, and small declarations to install."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tests.support.yamls import documents
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.app.manifests.__main__ import FOLDER
from trellis.app.manifests.declarations import Component, Rule, Webhook, WebhookKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.app.manifests.declarations import Manifest

__all__ = [
    "FOLDER",
    "a_component",
    "a_webhook",
    "containers",
    "installed",
    "of_kind",
    "one",
    "pod_spec",
]


def a_webhook(kind: WebhookKind = WebhookKind.VALIDATING, **changes: Any) -> Webhook:
    settings: dict[str, Any] = {
        "configuration": "sets",
        "name": "sets.example.com",
        "path": "/sets",
        "kind": kind,
        "rules": (Rule(resource=PodCliqueSet.resource),),
    }
    return Webhook(**settings | changes)


def a_component(name: str = "sets", **changes: Any) -> Component:
    return Component(name=name, **changes)


@cache
def installed() -> tuple[Manifest, ...]:
    """Every object of `install.yaml`, as anybody would read the file."""
    return documents((FOLDER / "install.yaml").read_text())


def of_kind(*kinds: str) -> Iterator[Manifest]:
    return (manifest for manifest in installed() if manifest["kind"] in kinds)


def one(kind: str, name: str = "grove-operator") -> Manifest:
    (found,) = (each for each in of_kind(kind) if each["metadata"]["name"] == name)
    return found


def pod_spec() -> Manifest:
    found: Manifest = one("Deployment")["spec"]["template"]["spec"]
    return found


def containers() -> list[Manifest]:
    found: list[Manifest] = pod_spec()["containers"]
    return found
