# SPDX-License-Identifier: Apache-2.0
"""What must hold after every commit, whatever goes wrong. One file a family of invariants.

The ids are those of the reliability spec; `D-15` is the ledger. Each watcher keeps what it needs of
the past, and says what is wrong with a commit; none ever looks at a cache of the operator's.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tests.sim.watching.falls import Falls
from tests.sim.watching.gates import Gates
from tests.sim.watching.harm import Harm
from tests.sim.watching.ledgers import Ledgers
from tests.sim.watching.owners import Owners
from tests.sim.watching.policies import Policies
from tests.sim.watching.replicas import Replicas
from tests.sim.watching.requests import Requests
from tests.sim.watching.rolling import Rolling
from tests.sim.watching.sizes import Sizes
from tests.sim.watching.statuses import Statuses
from tests.sim.watching.templates import Templates

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.sim.chronicle import Chronicle
    from tests.sim.watching.finding import Watcher
    from tests.sim.watching.hearing import Hearing


# What one of two operators is just making lands even if the other has decided otherwise meanwhile;
# and one that is deaf for a while may make a pod again that the other has just replaced, of which
# it never heard. Without fencing nobody can keep them from that; it must be mended at once.
IN_FLIGHT_SECONDS = 0.5
DEAF_SECONDS = 5.0


class Fence(Enum):
    """How well operators are kept apart, by for how long two may be at odds."""

    WHOLE = 0.0
    """One works at a time."""
    OPEN = IN_FLIGHT_SECONDS
    """Several do, and hear of each other soon."""
    DEAF = DEAF_SECONDS
    """Several do, and one may hear much later than the other."""


def watchers(
    chronicle: Chronicle,
    hearing: Hearing,
    *,
    fence: Fence,
    exact: bool,
    unharmed: Collection[str] = (),
) -> tuple[Watcher, ...]:
    """`hearing`: how old views may be. `exact`: all clocks are right. `unharmed` are the cliques of
    which no pod is to be deleted."""
    policies = Policies()
    return (
        policies,
        Owners(chronicle),
        Replicas(chronicle, patience=fence.value),
        Ledgers(),
        Gates(chronicle, hearing),
        Statuses(chronicle, hearing, policies),
        Templates(hearing),
        Requests(),
        Rolling(chronicle, hearing, policies, exact=exact),
        # Of two that work at once, one that is deaf may take for broken what the other saw well.
        Falls(chronicle, hearing, policies, exact=exact and fence is not Fence.DEAF),
        Sizes(),
        Harm(unharmed),
    )
