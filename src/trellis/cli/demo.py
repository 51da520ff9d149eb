# SPDX-License-Identifier: Apache-2.0
"""`trellis demo`: a tour that ends by itself."""

from __future__ import annotations

from trellis.cli.failure import fail
from trellis.cli.up import NO_EMBEDDED_CLUSTER


def demo() -> None:
    """A tour on a cluster with simulated GPU nodes; not interactive, ends by itself."""
    fail(NO_EMBEDDED_CLUSTER)
