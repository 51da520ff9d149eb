# SPDX-License-Identifier: Apache-2.0
"""What every workload controller is made from, besides the caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.config.types import OperatorConfiguration
    from trellis.api.transforms import PodTransform
    from trellis.runtime.env import Env


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """`waiter_image` is whole, with its tag. `transforms` shape every pod template, in order."""

    configuration: OperatorConfiguration
    env: Env
    waiter_image: str
    transforms: tuple[PodTransform, ...] = ()
