# SPDX-License-Identifier: Apache-2.0
"""Why a node will not do, in the words of the real scheduler: tools and people look for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """`by_pods`: other pods are in the way, so that it might help if some of them left."""

    reasons: tuple[str, ...]
    by_pods: bool = False


def insufficient(resource: str) -> str:
    return f"Insufficient {resource}"


TOO_MANY_PODS = "Too many pods"
CORDONED = Refusal(("node(s) were unschedulable",))
TAINTED = Refusal(("node(s) had untolerated taint(s)",))
NOT_SELECTED = Refusal(("node(s) didn't match Pod's node affinity/selector",))
NOT_NAMED = Refusal(("node(s) didn't satisfy plugin(s) [NodeAffinity]",))
PORTS_TAKEN = Refusal(("node(s) didn't have free ports for the requested pod ports",), by_pods=True)
NO_DOMAIN = Refusal(
    ("node(s) didn't match pod topology spread constraints (missing required label)",)
)
SKEWED = Refusal(("node(s) didn't match pod topology spread constraints",), by_pods=True)
NOT_NEAR = Refusal(("node(s) didn't match pod affinity rules",))
TOO_NEAR = Refusal(("node(s) didn't match pod anti-affinity rules",), by_pods=True)
SHUNNED = Refusal(("node(s) didn't satisfy existing pods anti-affinity rules",), by_pods=True)
NO_DEVICES = Refusal(("cannot allocate all claims",))
CLAIM_ELSEWHERE = Refusal(("resourceclaim not available on the node",))
