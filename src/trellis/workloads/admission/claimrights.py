# SPDX-License-Identifier: Apache-2.0
"""Whoever has claims made for a set must be allowed to make them, and to read the templates of
another namespace that they are made from. Pure.

The operator makes claims with rights of its own, and nobody is to get through it what they may not
have. Only the API server knows who asks and what they may do, so this is a policy of it. What is
shared never changes afterwards, so only creation is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.admissionpolicy import in_force, matching
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podcliqueset import PodCliqueSet

if TYPE_CHECKING:
    from trellis.api.meta import Resource

NAME = "resource-sharing.trellis.dev"
_TEMPLATE = "object.spec.template"
_SHARING = "?resourceSharing.orValue([])"
# Lists of lists: expressions cannot make one list of them. `dyn`, because their types differ.
_VARIABLES = {
    "parts": f"dyn({_TEMPLATE}.?podCliqueScalingGroups.orValue([]))"
    f" + dyn({_TEMPLATE}.?cliques.orValue([]))",
    "shared": f"dyn([{_TEMPLATE}.{_SHARING}]) + variables.parts.map(part, part.{_SHARING})",
    "namespaces": "variables.shared.map(level, level"
    ".filter(one, !(one.?namespace.orValue('') in ['', request.namespace]))"
    ".map(one, one.namespace)).filter(level, size(level) > 0)",
    "elsewhere": "size(variables.namespaces) > 0 ? variables.namespaces[0][0] : ''",
}


def claim_rights() -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and the binding that puts it into force.

    Asking for a right costs so much that an expression can ask twice at most. So templates may be
    in one other namespace, and the right is asked for once, for all that are there.
    """
    claims, templates = ResourceClaim.resource, ResourceClaimTemplate.resource
    spec = {
        "matchConstraints": matching(PodCliqueSet.resource, "CREATE"),
        "variables": [
            {"name": name, "expression": expression} for name, expression in _VARIABLES.items()
        ],
        "validations": [
            {
                "expression": "variables.shared.all(level, size(level) == 0) || "
                + _may("create", claims, "request.namespace"),
                "messageExpression": "'resourceSharing: claims are made for this set, and '"
                + _lacks("create", claims, "request.namespace")
                + "': ask for that right, or leave resourceSharing out'",
                "reason": "Forbidden",
            },
            {
                "expression": "variables.namespaces.all(level, "
                "level.all(one, one == variables.elsewhere))",
                "messageExpression": "'resourceSharing.namespace: templates may be in one other "
                "namespace, and these are in ' + variables.elsewhere + ' and another: copy them "
                "to namespace ' + request.namespace + ' and leave resourceSharing.namespace out'",
                "reason": "Invalid",
            },
            {
                "expression": "variables.elsewhere == '' || "
                + _may("get", templates, "variables.elsewhere"),
                "messageExpression": "'resourceSharing.namespace: the claim templates there are "
                "read for this set, and '"
                + _lacks("get", templates, "variables.elsewhere")
                + "': ask for that right, or copy them to namespace ' + request.namespace",
                "reason": "Forbidden",
            },
        ],
    }
    return in_force(NAME, spec)


def _may(verb: str, resource: Resource, namespace: str) -> str:
    asked = f"authorizer.group('{resource.group}').resource('{resource.plural}')"
    return f"{asked}.namespace({namespace}).check('{verb}').allowed()"


def _lacks(verb: str, resource: Resource, namespace: str) -> str:
    """In the middle of a text."""
    right = f" may not {verb} {resource.full_name} in namespace "
    return f" + request.userInfo.username + '{right}' + {namespace} + "
