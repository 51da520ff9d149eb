# SPDX-License-Identifier: Apache-2.0
"""How the children of a replica that there are differ from those that are wanted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api import hashes
from trellis.api.annotation import APPLIED
from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.runtime.plan import by_fields
from trellis.workloads.members import compare_metadata

if TYPE_CHECKING:
    from trellis.api.meta import Object
    from trellis.runtime.difference import Json
    from trellis.runtime.plan import Comparison, Wanted

_by_fields = by_fields()
# Where nothing is asked for, the server fills something in.
_FILLED_IN = ("minReplicas", "metrics")
_NOT_COMPARED = ("metadata", "status")


def _where_anything_differs(compare: Comparison) -> Comparison:
    """Asks only then: mostly nothing does, and equality of structs is known at once."""

    def compared(have: Object, want: Wanted) -> Json:
        return {} if _says_all_of(have, want) else compare(have, want)

    return compared


def _says_all_of(have: Object, want: Wanted) -> bool:
    known, wanted = have.metadata, want.metadata
    return (
        wanted.labels.items() <= known.labels.items()
        and wanted.annotations.items() <= known.annotations.items()
        and set(wanted.owner_references) <= set(known.owner_references)
        and all(
            getattr(have, name) == getattr(want, name, None)
            for name in have.__struct_fields__
            if name not in _NOT_COMPARED
        )
    )


compare_service = _where_anything_differs(
    by_fields("spec.selector", "spec.ports", "spec.publishNotReadyAddresses")
)
_compare_fields_of_group = _where_anything_differs(by_fields("spec.cliqueNames"))
compare_role = _where_anything_differs(by_fields("rules"))
compare_binding = _where_anything_differs(by_fields("subjects"))


def compare_group(have: Object, want: Wanted) -> Json:
    """What its template no longer says of its metadata goes too."""
    patch = _compare_fields_of_group(have, want)
    metadata = compare_metadata(have.metadata, want.metadata) if patch else {}
    return patch | {"metadata": metadata} if metadata else patch


def compare_autoscaler(have: Object, want: Wanted) -> Json:
    """What users no longer ask for goes once, when that changes: the server puts its own there."""
    if not isinstance(have, HorizontalPodAutoscaler) or not isinstance(
        want, HorizontalPodAutoscaler
    ):
        raise TypeError(f"{have.metadata.key} is to be compared with an autoscaler")
    patch = _without_rewritten(_by_fields(have, want), have.spec.metrics)
    if APPLIED not in patch.get("metadata", {}).get("annotations", {}):
        return patch
    asked = {"minReplicas": want.spec.min_replicas is not None, "metrics": bytes(want.spec.metrics)}
    dropped = {name: None for name in _FILLED_IN if not asked[name]}
    return patch | {"spec": dropped | patch.get("spec", {})} if dropped else patch


def _without_rewritten(patch: Json, present: msgspec.Raw) -> Json:
    """Without metrics that the server has, in its own way of writing: 1000m is stored as 1."""
    spec = patch.get("spec", {})
    if "metrics" not in spec or not bytes(present):
        return patch
    if not hashes.same_metrics(msgspec.json.decode(present), spec["metrics"]):
        return patch
    rest = {name: value for name, value in spec.items() if name != "metrics"}
    others = {name: value for name, value in patch.items() if name != "spec"}
    return others | {"spec": rest} if rest else others
