# SPDX-License-Identifier: Apache-2.0
"""What is said to whoever changes how a set is updated. Pure.

A change from OnDelete to RollingRecreate begins to replace at once what was left until then: who
does not know that may lose pods that they meant to keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.grove.updates import ON_DELETE
from trellis.workloads.admission.problems import SPEC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.policy import Stored
    from trellis.workloads.admission.subject import Subject

_TYPE = SPEC / "updateStrategy" / "type"


def switching(new: Subject, old: Subject, stored: Stored) -> Iterator[str]:
    if not _is_by_hand(old) or _is_by_hand(new):
        return
    count = stored.outdated_at(old.metadata.key) if stored.outdated_at is not None else None
    if count == 0:
        return
    what = "pods" if count is None else f"{count} pod{'' if count == 1 else 's'}"
    yield f"{_TYPE.shown}: {what} with an older template will be replaced now, step by step"


def _is_by_hand(subject: Subject) -> bool:
    strategy = subject.spec.update_strategy
    return strategy is not None and strategy.type == ON_DELETE
