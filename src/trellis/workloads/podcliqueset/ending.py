# SPDX-License-Identifier: Apache-2.0
"""How a run ends, given what came of its writes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.runtime.outcome import DONE, Again
from trellis.workloads.trouble import LOOK_AGAIN_SECONDS, trouble

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.runtime.outcome import Outcome
    from trellis.workloads.trouble import Written


def ending(written: Iterable[Written], again: float | None = None) -> Outcome:
    """Raises what is to be tried again. `again`: after how many seconds there is more to do."""
    found = [one for each in written if (one := trouble((each,))) is not None]
    for one in found:
        if one.error is not None:
            raise one.error
    waits = ([] if again is None else [again]) + [LOOK_AGAIN_SECONDS for _ in found[:1]]
    return Again(min(waits)) if waits else DONE
