# SPDX-License-Identifier: Apache-2.0
"""What went wrong in the last pass over an object, as its status tells it."""

from __future__ import annotations

from typing import Annotated

from trellis.api.meta import Time, Value
from trellis.api.schema.marks import mark


class LastError(Value, frozen=True, kw_only=True):
    """One error of the last pass. A clean pass clears them all."""

    code: Annotated[str, mark("A word that identifies the kind of error.")]
    description: Annotated[str, mark("What happened, for people.")]
    observed_at: Annotated[Time, mark("When it was seen.")]
