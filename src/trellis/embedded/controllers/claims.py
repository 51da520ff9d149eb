# SPDX-License-Identifier: Apache-2.0
"""Resource claims: made from templates for pods, freed and deleted when their pods are done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Key
from trellis.embedded.controllers.kinds import Claim, ClaimTemplate, Pod
from trellis.kube.errors import NotFound
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.index import Index
from trellis.runtime.outcome import DONE
from trellis.runtime.writes import Stored

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from trellis.embedded.controllers.kinds import Json, PodClaim
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
FIELD_MANAGER = "ResourceClaimController"
# Room for a hyphen and five letters in a name of 63.
_LONGEST_BASE = 57
# Pods that wait for a template, by its key.
_BY_TEMPLATE: Index[Pod] = Index(
    "claim template",
    lambda pod: [
        f"{pod.metadata.namespace}/{one.resource_claim_template_name}"
        for one in pod.spec.resource_claims
        if one.resource_claim_template_name
    ],
)
_BY_CONSUMER: Index[Claim] = Index(
    "consumer", lambda claim: [one.uid for one in claim.status.reserved_for]
)


def is_done(pod: Pod) -> bool:
    """Whether it needs its claims no more."""
    return pod.finished or (pod.metadata.deleting and not pod.spec.node_name)


def names(pod: Pod) -> dict[str, str]:
    """Of the claims that were made for the pod, by what it calls them."""
    return {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses}


def body(pod: Pod, wanted: PodClaim, template: ClaimTemplate) -> Json:
    inner = template.spec.get("metadata") or {}
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": pod.metadata.name,
        "uid": pod.metadata.uid,
        "controller": True,
    }
    labels = {"labels": inner["labels"]} if inner.get("labels") else {}
    return {
        "apiVersion": Claim.resource.api_version,
        "kind": Claim.resource.kind,
        "metadata": {
            "generateName": base(pod.metadata.name, wanted.name),
            "annotations": {**(inner.get("annotations") or {}), CLAIM_NAME: wanted.name},
            "ownerReferences": [owner],
            **labels,
        },
        "spec": template.spec["spec"],
    }


def base(pod: str, claim: str) -> str:
    """What a claim's name begins with; both parts are cut alike if it would be too long."""
    whole = f"{pod}-{claim}-"
    if len(whole) <= _LONGEST_BASE:
        return whole
    cut = _LONGEST_BASE / len(whole)
    return f"{pod[: int(len(pod) * cut)]}-{claim[: int(len(claim) * cut)]}"


def pod_claim_controller(means: Means) -> Controller[Pod]:
    """Makes the claims of pods."""
    templates = Cache(ClaimTemplate.resource, ClaimTemplate)
    means.pods.add_index(_BY_TEMPLATE)

    def by_template(found: ClaimTemplate) -> Iterable[Key]:
        waiting = means.pods.find(_BY_TEMPLATE, str(found.metadata.key))
        return [pod.metadata.key for pod in waiting]

    return Controller(
        name="resourceclaim-pod",
        cache=means.pods,
        reconcile=_Maker(means, templates).reconcile,
        woken_by=(
            Wakes(templates, by_template),
            Wakes(means.claims, controller_of(Pod.resource)),
        ),
    )


class _Maker:
    def __init__(self, means: Means, templates: Cache[ClaimTemplate]) -> None:
        self._means = means
        self._templates = templates

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        pod = self._means.pods.get(key)
        if pod is None or pod.metadata.deleting or pod.finished or not pod.spec.resource_claims:
            return DONE
        found = names(pod)
        owned = {
            claim.metadata.annotations.get(CLAIM_NAME, ""): claim.metadata.name
            for claim in self._means.claims.owned(pod.metadata.uid)
            if not claim.metadata.deleting
        }
        wanted = [one for one in pod.spec.resource_claims if one.resource_claim_template_name]
        missing = [one for one in wanted if one.name not in owned]
        await self._make(pod, missing)
        told = {one.name: owned[one.name] for one in wanted if one.name in owned}
        if any(found.get(name) != told[name] for name in told):
            await self._tell(pod, told)
        return DONE

    async def _make(self, pod: Pod, missing: Iterable[PodClaim]) -> None:
        """Of those whose template is there; the others are made when it comes."""
        bodies = []
        for one in missing:
            key = Key(pod.metadata.namespace, one.resource_claim_template_name)
            template = self._templates.get(key)
            if template is not None:
                bodies.append(body(pod, one, template))
        failed = await self._means.pen.make(pod.metadata, self._means.claims, bodies)
        if failed:
            raise failed[0]

    async def _tell(self, pod: Pod, told: dict[str, str]) -> None:
        """By apply, as the real one does: others write other parts of the status."""
        statuses = [{"name": name, "resourceClaimName": told[name]} for name in told]
        await self._means.pen.apply(
            pod.metadata,
            self._means.pods,
            {"status": {"resourceClaimStatuses": statuses}},
            FIELD_MANAGER,
            part="status",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What is to become of a claim."""

    status: Json | None = None
    """The status to be written, if it changes."""
    unprotect: bool = False
    delete: bool = False


def release(claim: Claim, gone: Container[str], owner: Pod | None) -> Release:
    """`gone` are the uids of the consumers that need the claim no more."""
    consumers = claim.status.reserved_for
    kept = [
        one for one in consumers if one.api_group or one.resource != "pods" or one.uid not in gone
    ]
    protected = FINALIZER in claim.metadata.finalizers
    freed = len(kept) < len(consumers)
    idle = not kept and (freed or claim.metadata.deleting)
    status: Json | None = None
    if freed or (idle and protected and claim.status.allocation is not None):
        status = {"reservedFor": [msgspec.to_builtins(one) for one in kept] or None}
        if idle and protected:
            status["allocation"] = None
    return Release(
        status=status,
        unprotect=idle and protected,
        delete=not kept and not claim.metadata.deleting and _is_left(claim, owner),
    )


def _is_left(claim: Claim, owner: Pod | None) -> bool:
    reference = claim.metadata.controller
    if reference is None or reference.kind != "Pod" or owner is None:
        return False
    return owner.metadata.uid != reference.uid or is_done(owner)


def claim_controller(means: Means) -> Controller[Claim]:
    """Frees and deletes claims."""
    means.claims.add_index(_BY_CONSUMER)

    def by_pod(pod: Pod) -> Iterable[Key]:
        reserved = means.claims.find(_BY_CONSUMER, pod.metadata.uid)
        owned = means.claims.owned(pod.metadata.uid)
        return [one.metadata.key for one in (*reserved, *owned)]

    return Controller(
        name="resourceclaim",
        cache=means.claims,
        reconcile=_Freer(means).reconcile,
        woken_by=(Wakes(means.pods, by_pod),),
    )


class _Freer:
    def __init__(self, means: Means) -> None:
        self._means = means

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        claim = self._means.claims.get(key)
        if claim is None:
            return DONE
        owner = claim.metadata.controller
        pod = self._means.pods.get(Key(key.namespace, owner.name)) if owner else None
        gone = await self._gone(claim)
        todo = release(claim, gone, pod)
        pen, have = self._means.pen, claim.metadata
        if todo.status is not None:
            have = await pen.change_status(self._means.claims, have, todo.status)
        if todo.unprotect:
            rest = [one for one in claim.metadata.finalizers if one != FINALIZER]
            await pen.change(self._means.claims, have, {"metadata": {"finalizers": rest or None}})
        if todo.delete:
            await pen.delete(claim.metadata, self._means.claims, [claim])
        return DONE

    async def _gone(self, claim: Claim) -> set[str]:
        """The uids of consumers that are done. One that is not in the cache is asked for."""
        gone: set[str] = set()
        for one in claim.status.reserved_for:
            if one.api_group or one.resource != "pods":
                continue
            pod = self._means.pods.get(Key(claim.metadata.namespace, one.name))
            if pod is not None:
                if pod.metadata.uid != one.uid or is_done(pod):
                    gone.add(one.uid)
            elif not await self._exists(claim.metadata.namespace, one.name, one.uid):
                gone.add(one.uid)
        return gone

    async def _exists(self, namespace: str, name: str, uid: str) -> bool:
        try:
            found = await self._means.client.of(Pod.resource, Stored, namespace).get(name)
        except NotFound:
            return False
        return found.metadata.uid == uid
