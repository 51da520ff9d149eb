# SPDX-License-Identifier: Apache-2.0
"""What an expression may name: variables with their types, and functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trellis.cel import types
from trellis.cel.authorizing import AUTHORIZING
from trellis.cel.conversions import STANDARD
from trellis.cel.formats import FORMATS
from trellis.cel.lists import LISTS
from trellis.cel.network import NETWORK
from trellis.cel.operators import OPERATORS
from trellis.cel.overloads import Library, Overload
from trellis.cel.quantities import QUANTITIES, Quantity, read_quantity, read_semver
from trellis.cel.shapes import MAX_REQUEST, Field, Shape, declared, least_bytes
from trellis.cel.strings import STRINGS
from trellis.cel.times import TIMES
from trellis.cel.types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of
from trellis.cel.urls import URLS
from trellis.cel.values import equal

if TYPE_CHECKING:
    from collections.abc import Mapping

_BASE = Library(
    OPERATORS,
    STANDARD,
    TIMES,
    STRINGS,
    LISTS,
    QUANTITIES,
    NETWORK,
    URLS,
    FORMATS,
    AUTHORIZING,
)
_ATTRIBUTE_VALUES = 48
_DOMAIN_LIMIT, _ID_LIMIT, _DRIVER_LIMIT, _VALUE_LIMIT, _PER_DEVICE = 63, 32, 63, 64, 32


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """Compare and cache by identity: make one and keep it."""

    variables: Mapping[str, Type]
    functions: Mapping[str, list[Overload]] = field(default_factory=lambda: _BASE.functions)
    bind: bool = False
    """Whether `cel.bind` is known."""
    sized: bool = True
    """Whether the limits of variables' types bound what an expression costs."""


def rules(
    schema: Mapping[str, Any], *, root: bool = False, optional_old: bool = False
) -> Environment | None:
    """For rules at a node of a custom resource's schema; None where no rule can see the values."""
    given = declared(schema, "selfType", root=root)
    if given is None:
        return None
    old = types.optional_of(given) if optional_old else given
    return Environment(MappingProxyType({"self": given, "oldSelf": old}))


def cardinality(environment: Environment) -> int:
    """How many values of the type of `self` one request can hold."""
    return MAX_REQUEST // (least_bytes(environment.variables["self"]) + 1)


def admission(
    *,
    params: bool = False,
    authorizer: bool = True,
    variables: Mapping[str, Type] | None = None,
    schema: Mapping[str, Any] | None = None,
    params_schema: Mapping[str, Any] | None = None,
) -> Environment:
    """For admission policies and matchConditions. With a schema, `object` is of its type: so the
    type checker of policies reads expressions; at evaluation it may be anything."""
    found: dict[str, Type] = {
        "object": _typed(schema),
        "oldObject": _typed(schema),
        "request": request_type(),
        "namespaceObject": namespace_type(),
    }
    if params:
        found["params"] = _typed(params_schema)
    if authorizer:
        found["authorizer"] = types.named("Authorizer")
        found["authorizer.requestResource"] = types.named("ResourceCheck")
    if variables is not None:
        found["variables"] = _struct("kubernetes.variables", **variables)
    return Environment(MappingProxyType(found), sized=False)


def _typed(schema: Mapping[str, Any] | None) -> Type:
    if schema is None:
        return DYN
    return declared(schema, "object", root=False) or DYN


def _struct(name: str, /, **fields: Type) -> Type:
    shape = Shape(fields={key: Field(key, given) for key, given in fields.items()})
    return Type("struct", name, shape=shape)


@cache
def request_type() -> Type:
    kind = _struct("kubernetes.GroupVersionKind", group=STRING, version=STRING, kind=STRING)
    resource = _struct(
        "kubernetes.GroupVersionResource", group=STRING, version=STRING, resource=STRING
    )
    user = _struct(
        "kubernetes.UserInfo",
        username=STRING,
        uid=STRING,
        groups=list_of(STRING),
        extra=map_of(STRING, list_of(STRING)),
    )
    return _struct(
        "kubernetes.AdmissionRequest",
        kind=kind,
        resource=resource,
        subResource=STRING,
        requestKind=kind,
        requestResource=resource,
        requestSubResource=STRING,
        name=STRING,
        namespace=STRING,
        operation=STRING,
        userInfo=user,
        dryRun=BOOL,
        options=DYN,
    )


@cache
def namespace_type() -> Type:
    texts = map_of(STRING, STRING)
    metadata = _struct(
        "kubernetes.NamespaceMetadata",
        name=STRING,
        generateName=STRING,
        namespace=STRING,
        labels=texts,
        annotations=texts,
        UID=STRING,
        creationTimestamp=TIMESTAMP,
        deletionGracePeriodSeconds=INT,
        deletionTimestamp=TIMESTAMP,
        generation=INT,
        resourceVersion=STRING,
        finalizers=list_of(STRING),
    )
    condition = _struct(
        "kubernetes.NamespaceCondition",
        status=STRING,
        type=STRING,
        lastTransitionTime=TIMESTAMP,
        message=STRING,
        reason=STRING,
    )
    status = _struct("kubernetes.NamespaceStatus", conditions=list_of(condition), phase=STRING)
    spec = _struct("kubernetes.NamespaceSpec", finalizers=list_of(STRING))
    return _struct("kubernetes.Namespace", metadata=metadata, spec=spec, status=status)


class Domains(dict[str, Any]):
    """Attributes or capacities by domain; a domain that a device lacks is empty."""

    __slots__ = ()

    def __missing__(self, _domain: str) -> dict[str, Any]:
        return {}


@cache
def devices() -> Environment:
    """For selectors of devices (DRA)."""
    domain, identifier = _text(_DOMAIN_LIMIT), _text(_ID_LIMIT)
    attribute = Type("dyn", "dyn", shape=Shape(most=_VALUE_LIMIT))
    capacity = types.named("Quantity")
    shape = Shape(most=_PER_DEVICE)
    device = _struct(
        "kubernetes.DRADevice",
        driver=_text(_DRIVER_LIMIT),
        attributes=map_of(domain, map_of(identifier, attribute, shape), shape),
        capacity=map_of(domain, map_of(identifier, capacity, shape), shape),
        allowMultipleAllocations=Type("bool", "bool", shape=Shape(most=1)),
    )
    return Environment(MappingProxyType({"device": device}), _DEVICES.functions, bind=True)


def _text(limit: int) -> Type:
    return Type("string", "string", shape=Shape(most=limit))


def _includes(values: Any, wanted: Any) -> bool:
    if isinstance(values, list):
        return any(equal(value, wanted) for value in values)
    return equal(values, wanted)


_DEVICES = Library(_BASE)
_DEVICES.member("includes", "dyn, dyn -> bool", _includes, lambda *_: _ATTRIBUTE_VALUES)


def device(driver: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of `device` for a device of a ResourceSlice."""
    attributes, capacity = Domains(), Domains()
    for name, attribute in (given.get("attributes") or {}).items():
        domain, identifier = _qualified(name, driver)
        attributes.setdefault(domain, {})[identifier] = _attribute(attribute)
    for name, amount in (given.get("capacity") or {}).items():
        domain, identifier = _qualified(name, driver)
        found = read_quantity(str(amount.get("value", "0")))
        capacity.setdefault(domain, {})[identifier] = found or Quantity(0)
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": bool(given.get("allowMultipleAllocations")),
    }


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(attribute: Mapping[str, Any]) -> Any:
    for kind in ("ints", "bools", "strings", "int", "bool", "string"):
        if attribute.get(kind) is not None:
            return attribute[kind]
    if attribute.get("versions") is not None:
        return [read_semver(version) for version in attribute["versions"]]
    return read_semver(attribute.get("version") or "")
