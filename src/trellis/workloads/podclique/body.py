# SPDX-License-Identifier: Apache-2.0
"""The pods of a PodClique as they are sent: its own pod spec with what every pod of a set gets.

Pure. The spec is plain dicts from the raw template, so that fields nobody here has heard of
survive. Nothing is changed in place: what pods have in common, they share until it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api import labels, names
from trellis.api.annotation import ATTEMPT, PRIORITY_CLASS, reaches_pods
from trellis.api.config.types import DEFAULT_SCHEDULER
from trellis.api.core.pod import Pod
from trellis.api.meta import Metadata, owner
from trellis.api.transforms import PodOwner, PodTemplate, opened, transformed
from trellis.runtime.plan import Draft
from trellis.workloads.kai import pod_marks
from trellis.workloads.podclique.environment import variables, with_variables
from trellis.workloads.podclique.ranks import rank
from trellis.workloads.sharing import claims_of_pod, inject
from trellis.workloads.waiting import with_waiter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.api.meta import OwnerReference
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.means import Means
    from trellis.workloads.outline import Member
    from trellis.workloads.podclique.desired import Birth
    from trellis.workloads.podclique.environment import Variable
    from trellis.workloads.podclique.state import State
    from trellis.workloads.podclique.surroundings import Surroundings

_HEAD = {"apiVersion": Pod.resource.api_version, "kind": Pod.resource.kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mould:
    """What all pods that one run makes have in common."""

    state: State
    member: Member
    gang: PodGang
    around: Surroundings
    means: Means
    template: PodTemplate
    environment: Sequence[Variable]
    controller: OwnerReference

    @property
    def priority_class(self) -> str:
        return str(self.template.spec.get("priorityClassName") or "")

    @property
    def scheduler(self) -> str:
        return str(self.template.spec["schedulerName"])

    def draft(self, birth: Birth) -> Draft:
        metadata = Metadata(
            name=birth.name,
            namespace=self.state.clique.metadata.namespace,
            owner_references=(self.controller,),
        )
        return Draft(metadata, partial(self.write, birth, metadata))

    def write(self, birth: Birth, metadata: Metadata) -> bytes:
        """The pod, as a create sends it."""
        shaped = transformed(self.template, self._pod_owner(birth), self.means.transforms)
        marks = pod_marks(self.gang, self.state.name)
        attempt = {ATTEMPT: str(birth.attempt)} if birth.attempt else {}
        described = msgspec.structs.replace(
            metadata,
            labels={**shaped.labels, **self._identity(birth), **marks.labels},
            annotations={**shaped.annotations, **marks.annotations, **attempt},
        )
        return msgspec.json.encode(
            {**_HEAD, "metadata": described, "spec": self._spec(birth, shaped.spec)}
        )

    def _spec(self, birth: Birth, shaped: Mapping[str, Any]) -> dict[str, Any]:
        outline, member = self.state.outline, self.member
        spec = with_variables(shaped, self.environment)
        spec = inject(spec, claims_of_pod(outline, member, birth.index))
        spec = with_waiter(spec, self.around.parents, self.means.waiter_image)
        spec["hostname"] = names.hostname(self.state.name, birth.index)
        spec["subdomain"] = names.set_replica(outline.name, member.place.set_replica)
        return self._placed(birth, spec)

    def _placed(self, birth: Birth, spec: dict[str, Any]) -> dict[str, Any]:
        """Pinned, where its place is known and our gang's scheduler heeds it; else gated."""
        if birth.node and self.scheduler == DEFAULT_SCHEDULER:
            pin = {labels.HOSTNAME: birth.node}
            return {**spec, "nodeSelector": {**(spec.get("nodeSelector") or {}), **pin}}
        theirs = [
            gate
            for gate in spec.get("schedulingGates") or ()
            if gate.get("name") != labels.GANG_GATE
        ]
        return {**spec, "schedulingGates": [*theirs, {"name": labels.GANG_GATE}]}

    def _identity(self, birth: Birth) -> dict[str, str]:
        """What tells this pod from all others: no label of a user's is put in its place."""
        found = labels.of_pod(self.state.name, birth.index, self._template_hash())
        if self.member.group is not None:
            found[labels.SCALING_GROUP_POD_INDEX] = rank(self.around.pods_before, birth.index)
        return found

    def _template_hash(self) -> str:
        stored = self.state.clique.metadata.labels.get(labels.POD_TEMPLATE_HASH)
        return stored or self.state.outline.template_hashes[self.member.template.name]

    def _pod_owner(self, birth: Birth) -> PodOwner:
        clique = self.state.clique
        return PodOwner(
            kind=clique.resource.kind,
            namespace=clique.metadata.namespace,
            name=clique.metadata.name,
            labels=clique.metadata.labels,
            annotations=clique.metadata.annotations,
            gang=self.gang.metadata.annotations,
            pod_index=birth.index,
        )


def mould(state: State, member: Member, gang: PodGang, around: Surroundings, means: Means) -> Mould:
    """`gang` is the one whose ledger is obeyed."""
    clique = state.clique
    return Mould(
        state=state,
        member=member,
        gang=gang,
        around=around,
        means=means,
        template=PodTemplate(
            labels=_labels(state, member, gang),
            annotations=_annotations(clique.metadata.annotations),
            spec=_basic_spec(state, gang, means),
        ),
        environment=variables(state.outline, member, means.configuration.trellis.cluster_domain),
        controller=owner(clique),
    )


def _labels(state: State, member: Member, gang: PodGang) -> dict[str, str]:
    """Those of the PodClique; what its pods are found by is there whoever tampered with it."""
    return {
        **state.clique.metadata.labels,
        **labels.managed(state.outline.name),
        **labels.of_clique(member.place),
        labels.POD_GANG: gang.metadata.name,
    }


def _annotations(found: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in found.items() if reaches_pods(key)}


def _basic_spec(state: State, gang: PodGang, means: Means) -> dict[str, Any]:
    """The pod spec as the user wrote it, with what the whole set decides where it does not."""
    spec = opened(state.clique.spec.pod_spec)
    shared = _shared_priority(state)
    if shared and not spec.get("priorityClassName"):
        spec["priorityClassName"] = shared
    if not spec.get("schedulerName"):
        default = means.configuration.scheduler.default_profile_name
        spec["schedulerName"] = gang.metadata.labels.get(labels.SCHEDULER_NAME) or default
    return spec


def _shared_priority(state: State) -> str:
    """That of the set; with an older template, that of the set as it was then."""
    clique, member = state.clique, state.member
    own = clique.metadata.labels.get(labels.POD_TEMPLATE_HASH)
    if member is None or own in (None, state.outline.template_hashes[member.template.name]):
        return state.owner.spec.template.priority_class_name
    return clique.metadata.annotations.get(PRIORITY_CLASS, "")
