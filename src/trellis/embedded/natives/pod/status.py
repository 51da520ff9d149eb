# SPDX-License-Identifier: Apache-2.0
"""The status of a pod: how it is born, what may be written into it, its conditions."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, duplicate, forbidden, invalid
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import immutable
from trellis.embedded.natives.quantities import parsed
from trellis.embedded.natives.syntax import check, dns_subdomain, ip_address, is_ip, label_key

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_COMPUTE = ("cpu", "memory")
_OWN_CONDITIONS = frozenset({"PodScheduled", "Ready", "Initialized"})


def born(pod: Object, now: str) -> dict[str, Any]:
    """The status of a new pod."""
    status: dict[str, Any] = {"phase": "Pending", "qosClass": quality(pod.get("spec") or {})}
    if (pod.get("spec") or {}).get("schedulingGates"):
        gated = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": now,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        status["conditions"] = [gated]
    return status


def quality(spec: dict[str, Any]) -> str:
    """Guaranteed where limits are all there and equal the requests; BestEffort without either."""
    whole = spec.get("resources")
    parts = (
        [whole]
        if whole is not None
        else [
            container.get("resources") or {}
            for name in ("containers", "initContainers")
            for container in spec.get(name) or ()
        ]
    )
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    guaranteed = True
    for part in parts:
        _add(requests, part.get("requests"))
        found = _add(limits, part.get("limits"))
        guaranteed = guaranteed and (found == 2 or (whole is not None and not part.get("limits")))
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: dict[str, int], amounts: dict[str, Any] | None) -> int:
    found = 0
    for name in _COMPUTE:
        if amounts and name in amounts and (nano := parsed(amounts[name])) > 0:
            total[name] = total.get(name, 0) + nano
            found += 1
    return found


def keep_in_step(status: dict[str, Any]) -> None:
    """`podIP` is the first of `podIPs`; where they differ the single one rules."""
    single, several = status.get("podIP"), status.get("podIPs") or []
    if single and (not several or several[0].get("ip") != single):
        status["podIPs"] = [{"ip": single}]
    elif several and not single:
        status["podIP"] = several[0].get("ip") or ""


def keep_observed(status: dict[str, Any], old: dict[str, Any]) -> None:
    """A writer that does not know observedGeneration does not clear it."""
    if not status.get("observedGeneration") and old.get("observedGeneration"):
        status["observedGeneration"] = old["observedGeneration"]
    known: dict[str, list[int]] = {}
    for condition in old.get("conditions") or ():
        known.setdefault(condition.get("type") or "", []).append(
            condition.get("observedGeneration") or 0
        )
    for condition in status.get("conditions") or ():
        before = known.get(condition.get("type") or "")
        seen = before.pop(0) if before else 0
        if seen and not condition.get("observedGeneration"):
            condition["observedGeneration"] = seen


def validate_status(new: Object, old: Object) -> list[FieldError]:
    status, before = new.get("status") or {}, old.get("status") or {}
    errors: list[FieldError] = []
    for position, condition in enumerate(status.get("conditions") or ()):
        if condition.get("type") not in _OWN_CONDITIONS:
            at = f"status.conditions[{position}].Type"
            errors += check(label_key, at, condition.get("type") or "")
    errors += _nomination(status, before, old)
    errors += immutable("status.qosClass", status.get("qosClass"), before.get("qosClass"))
    errors += _states(status, before, old.get("spec") or {})
    errors += _claims(status.get("resourceClaimStatuses") or [], new.get("spec") or {})
    errors += _addresses(status.get("podIPs") or [], "status.podIPs", "core.PodIP")
    return errors + _host_addresses(status)


def _nomination(status: dict[str, Any], before: dict[str, Any], old: Object) -> list[FieldError]:
    node = status.get("nominatedNodeName") or ""
    if not node or node == before.get("nominatedNodeName"):
        return []
    errors = check(dns_subdomain, "status.nominatedNodeName", node)
    if (old.get("spec") or {}).get("nodeName"):
        detail = "may not be set on pods that are already bound to a node"
        errors.append(forbidden("status.nominatedNodeName", detail))
    return errors


def _states(
    status: dict[str, Any], before: dict[str, Any], spec: dict[str, Any]
) -> list[FieldError]:
    """A container that ended for good does not run again."""
    name = "containerStatuses"
    fresh = {each.get("name"): each for each in status.get(name) or ()}
    policies = {
        each.get("name"): each.get("restartPolicy") for each in spec.get("containers") or ()
    }
    errors: list[FieldError] = []
    for position, held in enumerate(before.get(name) or ()):
        ended = (held.get("state") or {}).get("terminated")
        new = fresh.get(held.get("name"))
        if ended is None or new is None or (new.get("state") or {}).get("terminated") is not None:
            continue
        policy = policies.get(held.get("name")) or spec.get("restartPolicy")
        again = policy == "Always" or (policy == "OnFailure" and ended.get("exitCode"))
        if not again or held.get("name") not in policies:
            detail = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.{name}[{position}].state", detail))
    return errors


def _claims(statuses: list[dict[str, Any]], spec: dict[str, Any]) -> list[FieldError]:
    known = {each.get("name") for each in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    errors: list[FieldError] = []
    for position, each in enumerate(statuses):
        at, name = f"status.resourceClaimStatuses[{position}]", each.get("name") or ""
        if name not in known:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(f"{at}.name", name, detail))
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        if (claim := each.get("resourceClaimName")) is not None:
            errors += check(dns_subdomain, f"{at}.resourceClaimName", claim)
    return errors


def _addresses(addresses: list[dict[str, Any]], path: str, shape: str) -> list[FieldError]:
    texts = [each.get("ip") or "" for each in addresses]
    errors = [
        error
        for position, text in enumerate(texts)
        for error in check(ip_address, f"{path}[{position}]", text)
    ]
    if len(texts) > 1 and all(map(is_ip, texts)):
        families = [ipaddress.ip_address(text).version for text in texts]
        if len(texts) > 2 or len(set(families)) != 2:
            detail = "may specify no more than one IP for each IP family"
            errors.append(invalid(path, printed(f"[]{shape}", addresses), detail))
    return errors


def _host_addresses(status: dict[str, Any]) -> list[FieldError]:
    addresses = status.get("hostIPs") or []
    if not addresses:
        return []
    errors: list[FieldError] = []
    first = addresses[0].get("ip") or ""
    if (status.get("hostIP") or "") != first:
        errors.append(invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`"))
    return errors + _addresses(addresses, "status.hostIPs", "core.HostIP")
