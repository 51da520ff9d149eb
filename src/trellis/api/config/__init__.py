# SPDX-License-Identifier: Apache-2.0
"""The operator's configuration: its types, how it is read, and all that can be wrong with it."""

from __future__ import annotations

from trellis.api.config.load import Loaded, load
from trellis.api.config.problems import InvalidConfiguration, Problem
from trellis.api.config.types import OperatorConfiguration

__all__ = ["InvalidConfiguration", "Loaded", "OperatorConfiguration", "Problem", "load"]
