# SPDX-License-Identifier: Apache-2.0
"""The pods of a Job as they are sent. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.controllers.children import child
from trellis.embedded.controllers.job.facts import FAILURES, FINALIZER, IGNORED, INDEX

if TYPE_CHECKING:
    from trellis.embedded.controllers.job.managing import Birth
    from trellis.embedded.controllers.kinds import Job, Json

_VARIABLE = "JOB_COMPLETION_INDEX"
_LONGEST_BASE = 58


def pod(job: Job, birth: Birth) -> Json:
    made = child(job, job.spec.template)
    metadata = made["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), FINALIZER]
    if birth.index is None:
        return made
    index = str(birth.index)
    metadata["generateName"] = _base(job.metadata.name, index)
    metadata["labels"] = {**metadata.get("labels", {}), INDEX: index}
    marks = {INDEX: index}
    if birth.failures is not None:
        marks[FAILURES] = str(birth.failures)
    if birth.ignored:
        marks[IGNORED] = str(birth.ignored)
    metadata["annotations"] = {**metadata.get("annotations", {}), **marks}
    spec = made["spec"]
    for name in ("initContainers", "containers"):
        if name in spec:
            spec[name] = [_told(container) for container in spec[name]]
    spec["hostname"] = f"{job.metadata.name}-{index}"
    return made


def _base(name: str, index: str) -> str:
    end = f"-{index}-"
    return name[: _LONGEST_BASE - len(end)] + end


def _told(container: Json) -> Json:
    """The container with its index in a variable, unless it sets that itself."""
    variables: list[dict[str, Any]] = container.get("env") or []
    if any(one["name"] == _VARIABLE for one in variables):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*variables, {"name": _VARIABLE, "valueFrom": source}]}
