# SPDX-License-Identifier: Apache-2.0
"""What is read of a CustomResourceDefinition: whether a version of a kind is served. Pure."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.conditions import Condition, is_true
from trellis.api.meta import Object, Resource, Value


class DefinedVersion(Value, frozen=True, kw_only=True):
    name: str
    served: bool = False


class DefinitionSpec(Value, frozen=True, kw_only=True):
    versions: tuple[DefinedVersion, ...] = ()


class DefinitionStatus(Value, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()


class Definition(Object, frozen=True, kw_only=True):
    """A CustomResourceDefinition."""

    resource: ClassVar = Resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        namespaced=False,
    )

    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()


def serves(definition: Definition | None, version: str) -> bool:
    if definition is None or definition.metadata.deleting:
        return False
    served = any(each.served and each.name == version for each in definition.spec.versions)
    return served and is_true(definition.status.conditions, "Established")
