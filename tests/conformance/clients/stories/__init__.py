# SPDX-License-Identifier: Apache-2.0
"""Every story, by theme."""

from __future__ import annotations

from tests.conformance.clients.stories import changing, cluster, custom, making, reading, workloads

STORIES = [
    *making.STORIES,
    *reading.STORIES,
    *changing.STORIES,
    *workloads.STORIES,
    *custom.STORIES,
    *cluster.STORIES,
]
