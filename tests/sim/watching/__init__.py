# SPDX-License-Identifier: Apache-2.0
"""What must hold after every commit, whatever goes wrong. One file a family of invariants.

The ids are those of the reliability spec; `D-15` is the ledger. Each watcher keeps what it needs of
the past, and says what is wrong with a commit; none ever looks at a cache of the operator's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.watching.gates import Gates
from tests.sim.watching.harm import Harm
from tests.sim.watching.ledgers import Ledgers
from tests.sim.watching.owners import Owners
from tests.sim.watching.replicas import Replicas
from tests.sim.watching.requests import Requests
from tests.sim.watching.statuses import Statuses

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.sim.chronicle import Chronicle
    from tests.sim.watching.finding import Watcher


def watchers(
    chronicle: Chronicle, *, unfenced_seconds: float, unharmed: Collection[str] = ()
) -> tuple[Watcher, ...]:
    """`unfenced_seconds`: for how long may last what comes of several operators at work at once, if
    nothing keeps them apart. `unharmed` are the cliques of which no pod is to be deleted."""
    return (
        Owners(chronicle),
        Replicas(chronicle, patience=unfenced_seconds),
        Ledgers(),
        Gates(chronicle),
        Statuses(),
        Requests(),
        Harm(unharmed),
    )
