# SPDX-License-Identifier: Apache-2.0
"""Roles and their bindings, as objects. What they allow is the business of `access`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, invalid, not_supported, required
from trellis.embedded.natives.facts import RBAC
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.rules import choice, every, needed, needed_text, part, struct
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, dns_subdomain, path_segment

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_SUBJECTS = ("ServiceAccount", "User", "Group")


class Roles(Native):
    def check(self, new: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        for position, rule in enumerate(new.get("rules") or ()):
            errors += _rule(rule, f"rules[{position}]", namespaced=self.facts.namespaced)
        return errors + _AGGREGATION(new.get("aggregationRule"), "aggregationRule")


_AGGREGATION = struct(
    clusterRoleSelectors=(
        needed("at least one clusterRoleSelector required if aggregationRule is non-nil"),
        every(validate_selector),
    )
)


def _rule(rule: dict[str, Any], path: str, *, namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if not rule.get("verbs"):
        errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    others = rule.get("nonResourceURLs") or []
    if others:
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", others, detail))
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", others, detail))
        return errors
    for name, said in (("apiGroups", "api group"), ("resources", "resource")):
        if not rule.get(name):
            detail = f"resource rules must supply at least one {said}"
            errors.append(required(f"{path}.{name}", detail))
    return errors


class Bindings(Native):
    def default(self, new: Object) -> None:
        reference = new.setdefault("roleRef", {})
        reference["apiGroup"] = reference.get("apiGroup") or RBAC
        for subject in new.get("subjects") or ():
            if subject.get("kind") in {"User", "Group"} and not subject.get("apiGroup"):
                subject["apiGroup"] = RBAC

    def check(self, new: Object) -> list[FieldError]:
        kinds = ("Role", "ClusterRole") if self.facts.namespaced else ("ClusterRole",)
        reference = part(apiGroup=choice(RBAC), kind=choice(*kinds), name=needed_text(path_segment))
        errors = reference(new.get("roleRef"), "roleRef")
        for position, subject in enumerate(new.get("subjects") or ()):
            errors += _subject(subject, f"subjects[{position}]", namespaced=self.facts.namespaced)
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.check(new)
        if new.get("roleRef") != old.get("roleRef"):
            shown = printed("rbac.RoleRef", new.get("roleRef"))
            errors.append(invalid("roleRef", shown, "cannot change roleRef"))
        return errors


def _subject(subject: dict[str, Any], path: str, *, namespaced: bool) -> list[FieldError]:
    kind, name = subject.get("kind") or "", subject.get("name") or ""
    group = subject.get("apiGroup") or ""
    errors = [] if name else [required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            errors += check(dns_subdomain, f"{path}.name", name)
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
        return errors
    if kind not in {"User", "Group"}:
        return [*errors, not_supported(f"{path}.kind", kind, _SUBJECTS)]
    if group != RBAC:
        errors.append(not_supported(f"{path}.apiGroup", group, (RBAC,)))
    return errors
