# SPDX-License-Identifier: Apache-2.0
"""Eviction: a deletion that the pod's disruption budget has a say in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.conditions import set_condition
from trellis.embedded.copying import copied
from trellis.embedded.natives.selectors import matches
from trellis.embedded.refusals import Refusal, bad_request, conflict, forbidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.asking import Object

_MOST_DISRUPTED = 2000
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What an eviction that is allowed comes to.

    First `budget`, if any, is stored as the budget's status update, then `pod` as an update of the
    pod (it carries the mark), then the pod is deleted with `options`. A dry run stores nothing.
    """

    pod: Object
    budget: Object | None
    options: dict[str, Any]
    dry_run: bool


def check_eviction(eviction: Object, name: str) -> None:
    """Refuses an eviction that is malformed; `name` is the pod's in the path."""
    if (eviction.get("metadata") or {}).get("name", "") != name:
        raise bad_request("name in URL does not match name in Eviction object")


def delete_options(eviction: Object, dry_run: Sequence[str]) -> dict[str, Any]:
    """The options of the deletion: the eviction's, with the dry run of the request."""
    options = dict(eviction.get("deleteOptions") or {})
    own = options.get("dryRun") or []
    if dry_run and own and list(dry_run) != own:
        shown = " and ".join(f"[{' '.join(each)}]" for each in (dry_run, own))
        message = f"Non-matching dry-run options in request and content: {shown}"
        raise Refusal(500, "", message)
    if dry_run and not own:
        options["dryRun"] = list(dry_run)
    return options


def evict(pod: Object, budgets: Sequence[Object], options: dict[str, Any], now: str) -> Decision:
    """`budgets` are those of the pod's namespace. Raises the refusal where none may go."""
    dry_run = bool(options.get("dryRun"))
    budget = None if _unguarded(pod) else _counted(pod, budgets, now)
    if not dry_run:
        _check_preconditions(pod["metadata"], options.get("preconditions") or {})
    return Decision(pod=_marked(pod, now), budget=budget, options=options, dry_run=dry_run)


def _unguarded(pod: Object) -> bool:
    """Pods that do not run any more, or not yet, are no disruption."""
    phase = (pod.get("status") or {}).get("phase")
    gone = bool(pod["metadata"].get("deletionTimestamp"))
    return gone or phase in {"Succeeded", "Failed", "Pending"}


def _counted(pod: Object, budgets: Sequence[Object], now: str) -> Object | None:
    """The pod's budget with this eviction counted; None if it has none or none is needed."""
    labels = pod["metadata"].get("labels") or {}
    own = [
        budget for budget in budgets if matches((budget.get("spec") or {}).get("selector"), labels)
    ]
    if len(own) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support."
        )
        raise Refusal(500, "", message)
    if not own or (not _ready(pod) and _lets_unhealthy_go(own[0])):
        return None
    return _decremented(own[0], pod["metadata"]["name"], now)


def _ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _lets_unhealthy_go(budget: Object) -> bool:
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy") or 0
    return 0 < desired <= (status.get("currentHealthy") or 0)


def _decremented(budget: Object, pod: str, now: str) -> Object:
    metadata, status = budget["metadata"], budget.get("status") or {}
    name = metadata["name"]
    if (status.get("observedGeneration") or 0) < (metadata.get("generation") or 0):
        cause = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(cause, retry_after=10)
    if len(status.get("disruptedPods") or {}) > _MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden("policy", "poddisruptionbudget", name, why)
    allowed = status.get("disruptionsAllowed") or 0
    if allowed < 0:
        why = "pdb disruptions allowed is negative"
        raise forbidden("policy", "poddisruptionbudget", name, why)
    if allowed == 0:
        raise _too_many(_cause(name, status), retry_after=0)
    done = copied(budget)
    done["status"]["disruptionsAllowed"] = allowed - 1
    done["status"].setdefault("disruptedPods", {})[pod] = now
    if allowed == 1:
        _no_more_allowed(done, now)
    return done


def _cause(name: str, status: dict[str, Any]) -> str:
    conditions = status.get("conditions") or ()
    told: dict[str, Any] = next(
        (each for each in conditions if each.get("type") == "DisruptionAllowed"), {}
    )
    message = told.get("message") if told.get("status") == "False" else ""
    head = f"The disruption budget {name}"
    if message and told.get("reason") == "SyncFailed":
        return f"{head} does not allow evicting pods currently because it failed sync: {message}"
    healthy, desired = status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0
    if healthy <= desired:
        return f"{head} needs {desired} healthy pods and has {healthy} currently"
    why = f" ({told.get('reason')}): {message}" if message else ""
    return f"{head} does not allow evicting pods currently{why}"


def _no_more_allowed(budget: Object, now: str) -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "observedGeneration": budget["status"].get("observedGeneration"),
    }
    set_condition(budget["status"], condition, now)


def _too_many(cause: str, *, retry_after: int) -> Refusal:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    headers = {}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
        headers["Retry-After"] = str(retry_after)
    return Refusal(429, "TooManyRequests", _REFUSED, details, headers)


def _check_preconditions(stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    if uid and uid != stored.get("uid"):
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record "
            f"({stored.get('uid')}). The object might have been deleted and then recreated"
        )
        raise conflict("", "Pod", stored["name"], why)
    if version and version != stored.get("resourceVersion"):
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the "
            f"ResourceVersion in record ({stored.get('resourceVersion')}). "
            "The object might have been modified"
        )
        raise conflict("", "Pod", stored["name"], why)


def _marked(pod: Object, now: str) -> Object:
    marked = copied(pod)
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
    }
    set_condition(marked.setdefault("status", {}), condition, now)
    return marked
