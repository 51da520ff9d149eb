# SPDX-License-Identifier: Apache-2.0
"""Which pods are to be made and which are to go, by the ledger alone. Pure.

Names are never decided here: what is listed and missing is made, what is there and not listed
goes. A failed pod is kept until the one after it is there, which takes its count over.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.api.annotation import AFTER_DEPARTURE
from trellis.api.conditions import Motion, find
from trellis.api.grove.podclique import GANG_REFUSED
from trellis.api.reasons import CATALOGUE, cliques, objects, pending
from trellis.workloads.attempts import next_attempt
from trellis.workloads.excess import told
from trellis.workloads.holders import trouble_with
from trellis.workloads.ledger import pod_index
from trellis.workloads.pods import has_failed, is_leaving
from trellis.workloads.trouble import Trouble
from trellis.workloads.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from trellis.api.core.pod import Pod
    from trellis.workloads.ledger import Listed
    from trellis.workloads.podclique.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A pod that is to be made. `node` is where it is pinned to; without one it is gated."""

    index: int
    name: str
    node: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`hold`: why what is missing cannot be made just now."""

    create: tuple[Birth, ...] = ()
    delete: tuple[Pod, ...] = ()
    hold: Trouble | None = None


def plan(state: State) -> Plan:
    unknown = _unknown(state)
    if not state.ledger_is_known:
        return Plan(hold=unknown)
    present = {pod.metadata.name for pod in state.pods}
    missing = {index: name for index, name in state.listed.items() if name not in present}
    if not missing and len(present) == len(state.listed):
        return Plan(hold=unknown)
    by_index = _by_index(state.pods)
    surplus = tuple(_surplus(state, by_index))
    hold = unknown or (_waiting(state) if missing else None)
    if hold is not None:
        return Plan(delete=surplus, hold=hold)
    return Plan(create=tuple(_births(state, missing, by_index)), delete=surplus)


def sparing(planned: Plan, gone: Collection[str]) -> Plan:
    """The same without pods of names that were used already: the ledger will have others."""
    left = tuple(birth for birth in planned.create if birth.name not in gone)
    return planned if len(left) == len(planned.create) else replace(planned, create=left)


def unmade(planned: Plan) -> Plan:
    """The same without any new pod."""
    return replace(planned, create=())


def unshared(state: State) -> Trouble | None:
    """Why no pod can be made yet, though it is known which. Who is to make the claim says more."""
    if not state.unshared:
        return None
    message = f"ResourceClaim {state.unshared[0]}, which its pods share, has not been made yet"
    return Trouble(reason=objects.CREATING_CHILDREN, message=message, motion=Motion.MOVING)


def _unknown(state: State) -> Trouble | None:
    """Why nobody can tell which pods there are to be, or from what."""
    if state.replicas == 0:
        return None
    if state.is_excessive:
        return told("spec.replicas", state.replicas, state.most, "cliqueReplicas")
    if state.conflict is not None:
        return trouble_with(state.conflict)
    if state.member is None:
        message = f"PodCliqueSet {state.owner.metadata.name} has no clique that is called so"
        return Trouble(reason=cliques.NOT_IN_TEMPLATE, message=message)
    return _without_gang(state, state.member.place.gang) if state.gang is None else None


def _without_gang(state: State, gang: str) -> Trouble:
    """While there is none. Whoever makes it says if the server will not have it."""
    refusal = find(state.clique.status.conditions, GANG_REFUSED)
    if refusal is not None:
        reason = CATALOGUE.get(refusal.reason, objects.REFUSED)
        return Trouble(reason=reason, message=refusal.message)
    message = f"PodGang {gang} has not been made yet"
    return Trouble(reason=pending.GANG_MISSING, message=message, motion=Motion.MOVING)


def _waiting(state: State) -> Trouble | None:
    if state.gang is None or not verdict(state.gang).waits:
        return None
    message = f"there is no room yet for the whole of PodGang {state.gang.metadata.name}"
    return Trouble(reason=pending.WAITING_FOR_PLACEMENT, message=message, motion=Motion.MOVING)


def _births(
    state: State, missing: Listed, by_index: Mapping[int, Sequence[Pod]]
) -> Iterator[Birth]:
    """The lowest indices first, and never more than are wanted."""
    room = state.replicas - (len(state.listed) - len(missing))
    pins = _pins(state)
    patient = state.clique.metadata.annotations.get(AFTER_DEPARTURE) == "true"
    for index, name in list(missing.items())[: max(room, 0)]:
        if name in state.inherited:
            # It goes with its owner. Who made it again meanwhile could be late: the ledger goes on.
            continue
        before = by_index.get(index, ())
        if patient and not all(has_failed(pod) for pod in before):
            # Its end wakes us.
            continue
        yield Birth(index=index, name=name, node=pins.get(index, ""), attempt=next_attempt(before))


def _pins(state: State) -> Mapping[int, str]:
    return verdict(state.gang).pins(state.name, list(state.listed)) if state.gang else {}


def _surplus(state: State, by_index: Mapping[int, Sequence[Pod]]) -> Iterator[Pod]:
    """What is not listed. A failed one stays until its successor is there."""
    wanted = set(state.listed.values())
    for pod in state.pods:
        if pod.metadata.name in wanted or is_leaving(pod):
            continue
        if not has_failed(pod) or _is_replaced(pod, state.listed, by_index):
            yield pod


def _is_replaced(pod: Pod, listed: Listed, by_index: Mapping[int, Sequence[Pod]]) -> bool:
    """Whether the one after it is there, or there is to be none."""
    index = pod_index(pod)
    successor = listed.get(index) if index is not None else None
    if index is None or successor is None:
        return True
    return any(other.metadata.name == successor for other in by_index[index])


def _by_index(pods: Sequence[Pod]) -> Mapping[int, Sequence[Pod]]:
    found: defaultdict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        if (index := pod_index(pod)) is not None:
            found[index].append(pod)
    return found
