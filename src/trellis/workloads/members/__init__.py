# SPDX-License-Identifier: Apache-2.0
"""The PodCliques of a set: what each is to be, how it is compared, what is taken over. Pure."""

from __future__ import annotations

from trellis.workloads.members.adopting import carries, current_hashes
from trellis.workloads.members.clique import applied, clique, record
from trellis.workloads.members.comparing import compare_clique, compare_metadata
from trellis.workloads.members.standing import current_templates, is_behind, knows_its_template
from trellis.workloads.members.terms import AT_ONCE, Terms, is_released, ready_before

__all__ = [
    "AT_ONCE",
    "Terms",
    "applied",
    "carries",
    "clique",
    "compare_clique",
    "compare_metadata",
    "current_hashes",
    "current_templates",
    "is_behind",
    "is_released",
    "knows_its_template",
    "ready_before",
    "record",
]
