# SPDX-License-Identifier: Apache-2.0
"""What `authorizer` in admission expressions can be asked. Deciding is the caller's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trellis.api.syntax import dns_label_problem, dns_subdomain_problem
from trellis.cel.overloads import Library
from trellis.cel.problems import EvaluationProblem

AUTHORIZING = Library()
# Two checks are all that one expression can afford.
_CHECK_COST = 350_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """May this be done? By the one who asked, or by a service account."""

    verb: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None
    """Namespace and name."""


@dataclass(frozen=True, slots=True)
class Decision:
    allowed: bool
    reason: str = ""
    error: str = ""
    type_name = "kubernetes.authorization.Decision"


Decide = Callable[[Query], Decision]


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Bind one to `authorizer`."""

    decide: Decide = field(repr=False)
    query: Query = Query()
    type_name = "kubernetes.authorization.Authorizer"


class GroupCheck(Authorizer):
    __slots__ = ()
    type_name = "kubernetes.authorization.GroupCheck"


class PathCheck(Authorizer):
    __slots__ = ()
    type_name = "kubernetes.authorization.PathCheck"


class ResourceCheck(Authorizer):
    """Bind one, of what was asked for, to `authorizer.requestResource`."""

    __slots__ = ()
    type_name = "kubernetes.authorization.ResourceCheck"


def _path(asked: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise EvaluationProblem("path must not be empty")
    return PathCheck(asked.decide, replace(asked.query, path=path))


def _service_account(asked: Authorizer, namespace: str, name: str) -> Authorizer:
    if dns_subdomain_problem(name):
        raise EvaluationProblem("Invalid service account name")
    if dns_label_problem(namespace):
        raise EvaluationProblem("Invalid service account namespace")
    return Authorizer(asked.decide, replace(asked.query, service_account=(namespace, name)))


def _resource(asked: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise EvaluationProblem("resource must not be empty")
    return ResourceCheck(asked.decide, replace(asked.query, resource=resource))


def _with(part: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    return lambda asked, value: ResourceCheck(asked.decide, replace(asked.query, **{part: value}))  # type: ignore[arg-type]


def _check(asked: Authorizer, verb: str) -> Decision:
    return asked.decide(replace(asked.query, verb=verb))


def _check_cost(_asked: Authorizer, _verb: str) -> int:
    return _CHECK_COST


AUTHORIZING.member("path", "Authorizer, string -> PathCheck", _path)
AUTHORIZING.member(
    "group",
    "Authorizer, string -> GroupCheck",
    lambda asked, group: GroupCheck(asked.decide, replace(asked.query, group=group)),
)
AUTHORIZING.member("serviceAccount", "Authorizer, string, string -> Authorizer", _service_account)
AUTHORIZING.member("resource", "GroupCheck, string -> ResourceCheck", _resource)
for _name, _part in (
    ("subresource", "subresource"),
    ("namespace", "namespace"),
    ("name", "name"),
    ("fieldSelector", "field_selector"),
    ("labelSelector", "label_selector"),
):
    AUTHORIZING.member(_name, "ResourceCheck, string -> ResourceCheck", _with(_part))
for _kind in ("PathCheck", "ResourceCheck"):
    AUTHORIZING.member("check", f"{_kind}, string -> Decision", _check, _check_cost)
AUTHORIZING.member("allowed", "Decision -> bool", lambda decision: decision.allowed)
AUTHORIZING.member("reason", "Decision -> string", lambda decision: decision.reason)
AUTHORIZING.member("errored", "Decision -> bool", lambda decision: bool(decision.error))
AUTHORIZING.member("error", "Decision -> string", lambda decision: decision.error)
