# SPDX-License-Identifier: Apache-2.0
"""Role and RoleBinding: what the pods of a set may read to wait for each other."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.meta import Object, Resource, Value, always

GROUP = "rbac.authorization.k8s.io"


class PolicyRule(Value, frozen=True, kw_only=True):
    """What may be done to what."""

    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    verbs: tuple[str, ...]


class Role(Object, frozen=True, kw_only=True):
    """A Role. Servers send `null` for one without rules."""

    resource: ClassVar = Resource(GROUP, "v1", "Role", "roles")

    rules: tuple[PolicyRule, ...] | None = None


class RoleReference(Value, frozen=True, kw_only=True):
    """The role that is granted."""

    api_group: str = always(GROUP)
    kind: str
    name: str


class Subject(Value, frozen=True, kw_only=True):
    """To whom it is granted."""

    kind: str
    name: str
    namespace: str = ""


class RoleBinding(Object, frozen=True, kw_only=True):
    """A RoleBinding."""

    resource: ClassVar = Resource(GROUP, "v1", "RoleBinding", "rolebindings")

    role_ref: RoleReference
    subjects: tuple[Subject, ...] = ()
