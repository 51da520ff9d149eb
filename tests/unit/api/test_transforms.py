# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import msgspec

from trellis.api.transforms import (
    PodOwner,
    PodTemplate,
    PodTransform,
    closed,
    opened,
    transformed,
)

OWNER = PodOwner(
    kind="PodClique", namespace="team", name="llm-0-router", labels={"zone": "a"}, pod_index=1
)


def _labelled(template: PodTemplate, owner: PodOwner) -> PodTemplate:
    return PodTemplate(
        labels={**template.labels, "zone": owner.labels["zone"]},
        annotations=template.annotations,
        spec=template.spec,
    )


def _pinned(template: PodTemplate, owner: PodOwner) -> PodTemplate:
    selector = {**template.spec.get("nodeSelector", {}), "pin": f"node-{owner.pod_index}"}
    return PodTemplate(
        labels=template.labels,
        annotations=template.annotations,
        spec={**template.spec, "nodeSelector": selector},
    )


TRANSFORMS: tuple[PodTransform, ...] = (_labelled, _pinned)


def test_transforms_run_in_their_order_and_leave_the_rest_alone() -> None:
    template = PodTemplate(
        labels={"app": "llm"}, spec={"unheardOf": [1], "nodeSelector": {"pool": "a"}}
    )
    shaped = transformed(template, OWNER, TRANSFORMS)
    assert shaped.labels == {"app": "llm", "zone": "a"}
    assert shaped.spec == {"unheardOf": [1], "nodeSelector": {"pool": "a", "pin": "node-1"}}
    assert template.spec == {"unheardOf": [1], "nodeSelector": {"pool": "a"}}
    assert transformed(shaped, OWNER, TRANSFORMS) == shaped


def test_no_transforms_leave_a_template_as_it_is() -> None:
    template = PodTemplate(spec={"a": 1})
    assert transformed(template, OWNER, ()) is template


def test_a_stored_spec_is_opened_and_closed_without_loss() -> None:
    stored = msgspec.Raw(b'{"unheardOf":{"deep":[1,2.5,"x",null,true]},"hostname":"a"}')
    assert closed(opened(stored)) == stored
