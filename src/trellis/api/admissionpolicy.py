# SPDX-License-Identifier: Apache-2.0
"""Policies that the API server itself enforces, also while the operator is down. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.api.meta import Resource

API_VERSION = "admissionregistration.k8s.io/v1"


def in_force(name: str, spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A policy that fails closed, and the binding that puts it into force everywhere."""
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return (
        _object("ValidatingAdmissionPolicy", name, {"failurePolicy": "Fail", **spec}),
        _object("ValidatingAdmissionPolicyBinding", name, binding),
    )


def matching(resource: Resource, *operations: str, parts: tuple[str, ...] = ()) -> dict[str, Any]:
    """The constraints that match a kind, and these subresources of it."""
    rule = {
        "apiGroups": [resource.group],
        "apiVersions": [resource.version],
        "resources": [resource.plural, *(f"{resource.plural}/{part}" for part in parts)],
        "operations": list(operations),
        # The default, written out: kubectl would take what the server adds for a difference.
        "scope": "*",
    }
    return {"resourceRules": [rule]}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
