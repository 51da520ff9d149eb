# SPDX-License-Identifier: Apache-2.0
"""Nobody gives away what they do not have: checks on writes of roles and bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.access.rbac import GROUP, Rbac
from trellis.embedded.access.rules import described, uncovered
from trellis.embedded.asking import MASTERS, Attributes, Object, Review
from trellis.embedded.fielderrors import shown
from trellis.embedded.refusals import forbidden, not_found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.access.rules import Rule

_ROLES = frozenset({"roles", "clusterroles"})
_BINDINGS = frozenset({"rolebindings", "clusterrolebindings"})
_EVERYTHING: list[Rule] = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]
# The garbage collector must be able to let such objects go without having what they grant.
_FREE_METADATA = ("ownerReferences", "finalizers", "selfLink", "managedFields")


def check(review: Review, rbac: Rbac) -> None:
    """Raises a Refusal where the writer may not grant what the object grants."""
    plural, new = review.served.plural, review.new
    if review.served.group != GROUP or new is None or review.subresource:
        return
    if MASTERS in review.user.groups:
        return
    if review.old is not None and _only_frees(new, review.old):
        return
    if plural in _ROLES:
        _check_role(review, new, rbac)
    elif plural in _BINDINGS:
        _check_binding(review, new, rbac)


def _check_role(review: Review, role: Object, rbac: Rbac) -> None:
    plural = review.served.plural
    # A create is authorised before its object is read, so its name is not known.
    name = "" if review.operation == "CREATE" else review.name
    if _may(review, "escalate", plural, name, rbac):
        return
    _confirm(review, role.get("rules") or (), rbac)
    if not (_aggregates(role) or _aggregates(review.old or {})):
        return
    owned, _ = rbac.rules_of(review.user, review.namespace)
    if uncovered(owned, _EVERYTHING):
        why = "must have cluster-admin privileges to use the aggregationRule"
        raise forbidden(GROUP, plural, role["metadata"].get("name", ""), why)


def _check_binding(review: Review, binding: Object, rbac: Rbac) -> None:
    reference = binding.get("roleRef") or {}
    roles = {"Role": "roles", "ClusterRole": "clusterroles"}.get(reference.get("kind", ""))
    if roles is None or not reference.get("name"):
        return  # validation says what is wrong with it
    if _may(review, "bind", roles, reference["name"], rbac):
        return
    granted = rbac.role_rules(reference, review.namespace)
    if granted is None:
        raise not_found(GROUP, review.served.plural, reference["name"])
    _confirm(review, granted, rbac)


def _may(review: Review, verb: str, resource: str, name: str, rbac: Rbac) -> bool:
    wanted = Attributes(
        user=review.user,
        verb=verb,
        group=GROUP,
        resource=resource,
        namespace=review.namespace,
        name=name,
    )
    return rbac.authorize(wanted)[0]


def _confirm(review: Review, granted: Iterable[Rule], rbac: Rbac) -> None:
    user = review.user
    owned, problems = rbac.rules_of(user, review.namespace)
    missing = uncovered(owned, granted)
    if not missing:
        return
    groups = " ".join(map(shown, user.groups))
    lines = "\n".join(described(missing))
    why = (
        f"user {shown(user.name)} (groups=[{groups}]) is attempting to grant RBAC permissions"
        f" not currently held:\n{lines}"
    )
    if problems:
        why += f"; resolution errors: [{' '.join(problems)}]"
    name = (review.new or {})["metadata"].get("name", "")
    raise forbidden(GROUP, review.served.plural, name, why)


def _aggregates(role: Object) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _only_frees(new: Object, old: Object) -> bool:
    return _without_freedom(new) == _without_freedom(old)


def _without_freedom(item: Object) -> Object:
    metadata = {key: item["metadata"][key] for key in item["metadata"] if key not in _FREE_METADATA}
    return {**item, "metadata": metadata}
