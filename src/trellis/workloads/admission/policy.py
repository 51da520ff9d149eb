# SPDX-License-Identifier: Apache-2.0
"""What the operator's configuration lets in, and what of the cluster admission may look at."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from trellis.api.config.types import (
    DEFAULT_SCHEDULER,
    Limits,
    OperatorConfiguration,
    Schedulers,
    Topology,
)

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Key
    from trellis.workloads.admission.parts import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a PodCliqueSet is judged by, besides itself."""

    limits: Limits = field(default_factory=Limits)
    schedulers: Schedulers = field(default_factory=Schedulers)
    topology: Topology = field(default_factory=Topology)
    fabric: bool = False

    @classmethod
    def of(cls, configuration: OperatorConfiguration) -> Policy:
        return cls(
            limits=configuration.trellis.limits,
            schedulers=configuration.scheduler,
            topology=configuration.topology,
            fabric=configuration.network.auto_mnnvl_enabled,
        )

    @property
    def enabled_schedulers(self) -> tuple[str, ...]:
        profiles = (profile.name for profile in self.schedulers.profiles)
        return tuple(dict.fromkeys((DEFAULT_SCHEDULER, *profiles)))


SetAt: TypeAlias = Callable[["Key"], "PodCliqueSet | None"]
MinimumAt: TypeAlias = Callable[[str, "Key"], int | None]
PartAt: TypeAlias = Callable[[str, "Key"], "Part | None"]
RolledAt: TypeAlias = Callable[["Key", Collection[str]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What of the cluster may be looked at, from any thread. None: not read in this process.

    `minimum_at` takes the plural of a kind and a key, and gives the minAvailable of that object;
    `part_at` takes the same, and gives the place of that object in its set; `rolled_at` takes the
    key of a set and the names of its cliques that are about to get another template, and gives how
    many of its pods would be replaced if it were rolled then.
    """

    set_at: SetAt | None = None
    minimum_at: MinimumAt | None = None
    part_at: PartAt | None = None
    rolled_at: RolledAt | None = None


NOTHING = Stored()
