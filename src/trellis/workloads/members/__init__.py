# SPDX-License-Identifier: Apache-2.0
"""The PodCliques of a set: what each is to be, how it is compared, what is taken over. Pure."""

from __future__ import annotations

from trellis.workloads.members.adopting import current_hashes
from trellis.workloads.members.clique import applied, clique, record
from trellis.workloads.members.comparing import compare_clique, compare_metadata

__all__ = [
    "applied",
    "clique",
    "compare_clique",
    "compare_metadata",
    "current_hashes",
    "record",
]
