# SPDX-License-Identifier: Apache-2.0
"""Rules about rules: aggregated roles, and the types in admission policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.meta import to_builtins
from trellis.embedded.access.aggregation import aggregated
from trellis.embedded.admission import policy_status
from trellis.embedded.controllers.kinds import ClusterRole, Policy
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes
from trellis.runtime.outcome import DONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Key
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome


# The names under which the real ones apply.
_AGGREGATION = "clusterrole-aggregation-controller"
_TYPES = "validatingadmissionpolicy-status"


def role_controller(means: Means) -> Controller[ClusterRole]:
    """An aggregated role has the rules of those that its selectors find."""
    roles = Cache(ClusterRole.resource, ClusterRole)

    def aggregating(_: ClusterRole) -> Iterable[Key]:
        return [one.metadata.key for one in roles if one.aggregation_rule]

    async def reconcile(key: Key, _: IO) -> Outcome:
        role = roles.get(key)
        if role is None or role.metadata.deleting or not role.aggregation_rule:
            return DONE
        rules = aggregated(to_builtins(role), [to_builtins(one) for one in roles])
        if rules is not None:
            await means.pen.apply(role.metadata, roles, {"rules": rules}, _AGGREGATION)
        return DONE

    return Controller(
        name="clusterrole-aggregation",
        cache=roles,
        reconcile=reconcile,
        woken_by=(Wakes(roles, aggregating),),
        workers=1,
    )


def policy_controller(means: Means) -> Controller[Policy]:
    """Says what is wrong with the types in the expressions of a policy."""
    policies = Cache(Policy.resource, Policy)

    async def reconcile(key: Key, _: IO) -> Outcome:
        policy, catalogue = policies.get(key), means.options.catalogue
        if policy is None or policy.metadata.deleting or catalogue is None:
            return DONE
        if policy.status.get("observedGeneration") == policy.metadata.generation:
            return DONE
        known: dict[str, Any] = to_builtins(policy)
        new = {"status": policy_status(known, catalogue)}
        await means.pen.apply(policy.metadata, policies, new, _TYPES, part="status")
        return DONE

    return Controller(name="policy-status", cache=policies, reconcile=reconcile, workers=1)
