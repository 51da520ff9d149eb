# SPDX-License-Identifier: Apache-2.0
"""Reviews of access: may someone, may I, and what may I. Objects that are answered, never stored.

Each takes the body as it was posted and returns what is answered; the caller's object is not
changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.access import rules
from trellis.embedded.asking import Attributes, Object, User
from trellis.embedded.fielderrors import (
    FieldError,
    Verbatim,
    child,
    forbidden,
    index,
    invalid,
    required,
    shown,
)
from trellis.embedded.refusals import bad_request
from trellis.embedded.refusals import invalid as refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.embedded.access.rbac import Rbac

_GROUP = "authorization.k8s.io"
_API_VERSION = f"{_GROUP}/v1"
_RESOURCE, _PATH = "resourceAttributes", "nonResourceAttributes"
# The fields of metadata and its owners in the order in which Go writes them.
_METADATA = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("labels", "annotations", "ownerReferences", "finalizers", "managedFields"),
)
_MANAGED = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")


def subject_access(body: Object, rbac: Rbac) -> Object:
    spec = body.get("spec") or {}
    _refuse([*_spec_problems(spec), *_someone(spec), *_selectors(spec), *_metadata(body)])
    return _answered(body, "SubjectAccessReview", _asked(_subject(spec), spec), rbac)


def local_subject_access(body: Object, namespace: str, rbac: Rbac) -> Object:
    spec = body.get("spec") or {}
    problems = [*_spec_problems(spec), *_someone(spec), *_selectors(spec)]
    problems += _metadata(body, "namespace")
    about = spec.get(_RESOURCE)
    if about is not None and about.get("namespace", "") != namespace:
        path = f"spec.{_RESOURCE}.namespace"
        problems.append(invalid(path, about.get("namespace", ""), "must match metadata.namespace"))
    if spec.get(_PATH) is not None:
        value = Verbatim(_go_path(spec[_PATH]))
        problems.append(invalid(f"spec.{_PATH}", value, "disallowed on this kind of request"))
    _refuse(problems)
    return _answered(body, "LocalSubjectAccessReview", _asked(_subject(spec), spec), rbac)


def self_subject_access(body: Object, user: User, rbac: Rbac) -> Object:
    spec = body.get("spec") or {}
    _refuse([*_spec_problems(spec), *_selectors(spec), *_metadata(body)])
    return _answered(body, "SelfSubjectAccessReview", _asked(user, spec), rbac)


def self_subject_rules(body: Object, user: User, rbac: Rbac) -> Object:
    namespace = (body.get("spec") or {}).get("namespace") or ""
    if not namespace:
        raise bad_request("no namespace on request")
    found, problems = rbac.rules_of(user, namespace)
    status: Object = {
        "resourceRules": [_resource_rule(rule) for rule in found if rule.get("resources")],
        "nonResourceRules": [_path_rule(rule) for rule in found if rule.get("nonResourceURLs")],
        "incomplete": False,
    }
    if problems:
        status["evaluationError"] = ", ".join(problems)
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": _API_VERSION,
        "metadata": {},
        "spec": {},
        "status": status,
    }


def _answered(body: Object, kind: str, wanted: Attributes, rbac: Rbac) -> Object:
    allowed, reason = rbac.authorize(wanted)
    status: Object = {"allowed": allowed}
    if reason:
        status["reason"] = reason
    metadata = body.get("metadata") or {}
    about = {"kind": kind, "apiVersion": _API_VERSION, "metadata": metadata}
    return {**about, "spec": _without_empty(body["spec"]), "status": status}


def _without_empty(value: Any) -> Any:
    """Go leaves out what is empty."""
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each not in ("", None, [], {})}


def _subject(spec: Mapping[str, Any]) -> User:
    extra = {key: tuple(value) for key, value in (spec.get("extra") or {}).items()}
    return User(
        name=spec.get("user") or "",
        uid=spec.get("uid") or "",
        groups=tuple(spec.get("groups") or ()),
        extra=extra,
    )


def _asked(user: User, spec: Mapping[str, Any]) -> Attributes:
    about = spec.get(_RESOURCE)
    if about is None:
        path = spec[_PATH]
        return Attributes(user=user, verb=path.get("verb", ""), path=path.get("path", ""))
    named = {
        field: about.get(field) or ""
        for field in ("verb", "group", "resource", "subresource", "namespace", "name")
    }
    return Attributes(user=user, version=about.get("version") or "*", **named)


def _refuse(problems: Sequence[FieldError]) -> None:
    if problems:
        # The real server forgets to name the kind here.
        raise refused(_GROUP, "", "", problems)


def _spec_problems(spec: Mapping[str, Any]) -> list[FieldError]:
    about, path = spec.get(_RESOURCE), spec.get(_PATH)
    if about is not None and path is not None:
        said = "cannot be specified in combination with resourceAttributes"
        return [invalid(f"spec.{_PATH}", Verbatim(_go_path(path)), said)]
    if about is None and path is None:
        said = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid(f"spec.{_RESOURCE}", None, said)]
    return []


def _someone(spec: Mapping[str, Any]) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [invalid("spec.user", "", "at least one of user or group must be specified")]


def _go_path(about: Mapping[str, Any]) -> str:
    return f'{{"Path":{shown(about.get("path", ""))},"Verb":{shown(about.get("verb", ""))}}}'


def _metadata(body: Object, *free: str) -> list[FieldError]:
    metadata = body.get("metadata") or {}
    if not any(metadata.get(field) for field in metadata if field not in ("managedFields", *free)):
        return []
    said = "must be empty except for namespace" if free else "must be empty"
    return [invalid("metadata", Verbatim(_go_metadata(metadata)), said)]


def _go_metadata(metadata: Object) -> str:
    whole = {field: metadata[field] for field in _METADATA if metadata.get(field)}
    if "managedFields" in whole:
        whole["managedFields"] = [
            {field: entry[field] for field in _MANAGED if field in entry}
            for entry in whole["managedFields"]
        ]
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def _selectors(spec: Mapping[str, Any]) -> list[FieldError]:
    about = spec.get(_RESOURCE) or {}
    return [
        problem
        for field in ("fieldSelector", "labelSelector")
        if about.get(field) is not None
        for problem in _selector(about[field], f"spec.{_RESOURCE}.{field}")
    ]


def _selector(selector: Mapping[str, Any], path: str) -> list[FieldError]:
    raw, requirements = selector.get("rawSelector"), selector.get("requirements")
    problems: list[FieldError] = []
    if raw and requirements:
        said = "may not specified at the same time as requirements"
        problems.append(invalid(child(path, "rawSelector"), raw, said))
    if not raw and not requirements:
        said = f"when {path} is specified, requirements or rawSelector is required"
        problems.append(required(child(path, "requirements"), said))
    for number, requirement in enumerate(requirements or ()):
        problems += _requirement(requirement, index(child(path, "requirements"), number))
    return problems


def _requirement(requirement: Mapping[str, Any], path: str) -> list[FieldError]:
    problems: list[FieldError] = []
    operator, given = requirement.get("operator", ""), requirement.get("values")
    if not requirement.get("key"):
        problems.append(required(child(path, "key"), "must be specified"))
    if operator in ("In", "NotIn") and not given:
        said = "must be specified when `operator` is 'In' or 'NotIn'"
        problems.append(required(child(path, "values"), said))
    if operator in ("Exists", "DoesNotExist") and given:
        said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        problems.append(forbidden(child(path, "values"), said))
    return problems


def _resource_rule(rule: rules.Rule) -> Object:
    return _chosen(rule, "verbs", "apiGroups", "resources", "resourceNames")


def _path_rule(rule: rules.Rule) -> Object:
    return _chosen(rule, "verbs", "nonResourceURLs")


def _chosen(rule: rules.Rule, *fields: str) -> Object:
    return {field: list(rules.values(rule, field)) for field in fields if rule.get(field)}
