# SPDX-License-Identifier: Apache-2.0
"""Whether a PodClique says that all its pods have the template that it bears. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members.adopting import current_hashes
from trellis.workloads.updates.progress import is_under_way, target_of

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique


def is_behind(clique: PodClique) -> bool:
    """Whether pods of it are older, or its status is about an older template and cannot tell.

    One that has said nothing yet is new, and so is all that it makes.
    """
    status = clique.status
    if status.observed_generation is None:
        return False
    return status.updated_replicas < status.replicas or not knows_its_template(clique)


def current_templates(clique: PodClique) -> frozenset[str]:
    """What pods that are up to date say that they were made from.

    One that says nothing may be anything: what an older operator made, or somebody stripped, is not
    restarted for that, but goes with the next update.
    """
    known = current_hashes(clique)
    is_renewed = is_under_way(clique.status) or not knows_its_template(clique)
    return known if is_renewed else known | {""}


def knows_its_template(clique: PodClique) -> bool:
    """Whether its status is about the template that it bears now."""
    told = target_of(clique.status)
    if told in ("", clique.metadata.labels.get(POD_TEMPLATE_HASH)):
        return True
    return told in current_hashes(clique)
