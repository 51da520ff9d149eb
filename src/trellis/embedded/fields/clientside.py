# SPDX-License-Identifier: Apache-2.0
"""Objects that kubectl applied on its own side before it applied them here.

Their annotation holds what it applied the last time: that far kubectl may take fields over from
whom it seems to be in conflict with, and the annotation is kept up to date.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.differences import compared
from trellis.embedded.fields.elements import encoded
from trellis.embedded.fields.listing import NoStep
from trellis.embedded.fields.owned import named
from trellis.embedded.fields.typed import NotTyped, check

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.fields.shapes import Shape

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_BYTES = 256 * 1024


def _annotations(live: Object) -> dict[str, str]:
    return (live.get("metadata") or {}).get("annotations") or {}


def taken_over(shape: Shape, live: Object, api_version: str) -> Fields:
    """What kubectl applied on its own side and nobody has changed since."""
    try:
        last: Any = json.loads(_annotations(live).get(ANNOTATION) or "null")
        if not isinstance(last, dict) or last.get("apiVersion") != api_version:
            return {}
        check(shape, last)
        difference = compared(shape, last, live)
        fields = sets.difference(named(shape, last), difference.changed)
        return sets.difference(fields, difference.removed)
    except (ValueError, RecursionError, NotTyped, NoStep):
        return {}


def annotate(result: Object, configuration: Object) -> None:
    """Writes the configuration into the annotation, if there is one already."""
    annotations = _annotations(result)
    if not annotations.get(ANNOTATION):
        return
    metadata = configuration.get("metadata") or {}
    said = {name: text for name, text in _annotations(configuration).items() if name != ANNOTATION}
    bare = {name: value for name, value in metadata.items() if name != "annotations"}
    if said:
        bare["annotations"] = said
    annotations[ANNOTATION] = encoded({**configuration, "metadata": bare}) + "\n"
    if (
        sum(len(name.encode()) + len(text.encode()) for name, text in annotations.items())
        > _MOST_BYTES
    ):
        del annotations[ANNOTATION]
