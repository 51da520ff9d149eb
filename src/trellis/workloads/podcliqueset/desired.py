# SPDX-License-Identifier: Apache-2.0
"""What one replica of a set is made of, besides its PodCliques: Service, groups, autoscalers. Pure.

How many replicas a scaling group has is decided here only once, when it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api import hashes, names
from trellis.api.annotation import APPLIED, FROM_TEMPLATE, MNNVL_GROUP
from trellis.api.core.autoscaler import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    ScaleTarget,
)
from trellis.api.core.service import HEADLESS, Service, ServiceSpec
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup, PodCliqueScalingGroupSpec
from trellis.api.labels import (
    SET_REPLICA_INDEX,
    SHORT_GROUP_NAME,
    Component,
    common,
    managed,
    of_set_replica,
)
from trellis.api.meta import Metadata, owner, to_builtins
from trellis.workloads.members import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.autoscaling import AutoScalingConfig
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.api.meta import Object
    from trellis.workloads.outline import Outline


def service(outline: Outline, replica: int) -> Service:
    """The headless Service by which the pods of a replica find each other."""
    config = outline.set.spec.template.headless_service_config
    return Service(
        metadata=_metadata(
            outline, replica, names.set_replica(outline.name, replica), Component.SERVICE
        ),
        spec=ServiceSpec(
            cluster_ip=HEADLESS,
            selector=managed(outline.name) | {SET_REPLICA_INDEX: str(replica)},
            publish_not_ready_addresses=config is None or config.publish_not_ready_addresses,
        ),
    )


def scaling_group(
    outline: Outline,
    replica: int,
    template: ScalingGroupTemplate,
    live: PodCliqueScalingGroup | None,
) -> PodCliqueScalingGroup:
    """A scaling group of the replica; if it is there, with as many replicas as it has."""
    metadata = _metadata(
        outline, replica, outline.group_name(replica, template), Component.SCALING_GROUP
    )
    inherited = outline.set.metadata.annotations.get(MNNVL_GROUP)
    annotations = {} if inherited is None else {MNNVL_GROUP: inherited}
    annotations |= template.annotations
    if template.annotations:
        annotations[FROM_TEMPLATE] = record({}, template.annotations)
    labels = metadata.labels | {SHORT_GROUP_NAME: template.name}
    settings = [template.min_available, template.clique_names]
    annotations[APPLIED] = hashes.digest([metadata.name, labels, annotations, settings])
    return PodCliqueScalingGroup(
        metadata=structs.replace(metadata, labels=labels, annotations=annotations),
        spec=PodCliqueScalingGroupSpec(
            replicas=template.replicas if live is None else live.spec.replicas,
            min_available=template.min_available,
            clique_names=template.clique_names,
        ),
    )


def autoscalers(outline: Outline, replica: int) -> Iterator[HorizontalPodAutoscaler]:
    """One for each clique and scaling group that is to be scaled by load, with its name."""
    for template in outline.standalone:
        if (config := template.spec.auto_scaling_config) is not None:
            name = names.clique(outline.name, replica, template.name)
            yield _autoscaler(outline, replica, _target(PodClique, name), config)
    for group in outline.groups.values():
        if (config := group.scale_config) is not None:
            name = outline.group_name(replica, group)
            yield _autoscaler(outline, replica, _target(PodCliqueScalingGroup, name), config)


def _autoscaler(
    outline: Outline, replica: int, target: ScaleTarget, config: AutoScalingConfig
) -> HorizontalPodAutoscaler:
    metadata = _metadata(outline, replica, target.name, Component.AUTOSCALER)
    spec = HorizontalPodAutoscalerSpec(
        scale_target_ref=target,
        min_replicas=config.min_replicas,
        max_replicas=config.max_replicas,
        metrics=config.metrics,
    )
    mark = hashes.digest([metadata.labels, to_builtins(spec)])
    return HorizontalPodAutoscaler(
        metadata=structs.replace(metadata, annotations={APPLIED: mark}), spec=spec
    )


def _target(kind: type[Object], name: str) -> ScaleTarget:
    resource = kind.resource
    return ScaleTarget(api_version=resource.api_version, kind=resource.kind, name=name)


def _metadata(outline: Outline, replica: int, name: str, component: Component) -> Metadata:
    return Metadata(
        name=name,
        namespace=outline.set.metadata.namespace,
        labels=common(outline.name, name, component) | of_set_replica(outline.name, replica),
        owner_references=(owner(outline.set),),
    )
