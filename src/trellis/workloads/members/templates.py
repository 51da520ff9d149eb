# SPDX-License-Identifier: Apache-2.0
"""What of a clique's template is for its PodCliques and pods to bear. Pure.

Keys that the operator writes are not: a place that somebody made up would be taken for the true
one. They still count in the hash of the template, where they always did: to leave them out would
roll what runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import annotation, labels

if TYPE_CHECKING:
    from trellis.api.grove.template import CliqueTemplate


def own_labels(template: CliqueTemplate) -> dict[str, str]:
    return {key: value for key, value in template.labels.items() if key not in labels.RESERVED}


def own_annotations(template: CliqueTemplate) -> dict[str, str]:
    """Nor that of the topology, which is for the gang."""
    reserved = annotation.RESERVED | {annotation.TOPOLOGY_NAME}
    return {key: value for key, value in template.annotations.items() if key not in reserved}
