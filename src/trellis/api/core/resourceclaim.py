# SPDX-License-Identifier: Apache-2.0
"""ResourceClaim and ResourceClaimTemplate. Which version is served is found out by discovery."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from trellis.api.meta import ABSENT, Object, Resource, Value, detach

GROUP = "resource.k8s.io"
# The order in which versions are chosen, of those that a server has.
VERSIONS = ("v1", "v1beta2", "v1beta1")
CONSUMERS_LIMIT = 256


class ClaimConsumer(Value, frozen=True, kw_only=True):
    """Who may use the claim now."""

    resource: str = ""
    name: str
    uid: str


class AllocationResult(Value, frozen=True, kw_only=True):
    """That devices were given. Which ones is raw: it differs by version."""

    devices: msgspec.Raw = ABSENT

    def __post_init__(self) -> None:
        detach(self, "devices")


class ResourceClaimStatus(Value, frozen=True, kw_only=True):
    """What was given, and to whom."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ClaimConsumer, ...] = ()


class ResourceClaim(Object, frozen=True, kw_only=True):
    """Devices that pods ask for together. The spec is raw: it differs by version."""

    resource: ClassVar = Resource(GROUP, VERSIONS[0], "ResourceClaim", "resourceclaims")

    spec: msgspec.Raw
    status: ResourceClaimStatus = ResourceClaimStatus()

    def __post_init__(self) -> None:
        detach(self, "spec")


class ResourceClaimTemplate(Object, frozen=True, kw_only=True):
    """From which a claim is made for each pod."""

    resource: ClassVar = Resource(
        GROUP, VERSIONS[0], "ResourceClaimTemplate", "resourceclaimtemplates"
    )

    spec: msgspec.Raw

    def __post_init__(self) -> None:
        detach(self, "spec")
