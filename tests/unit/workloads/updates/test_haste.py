# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.support.virtual import START
from trellis.api.grove.faults import LastError
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.workloads.pacing import Haste
from trellis.workloads.updates.progress import Span, meanwhile

BEFORE = PodCliqueSetStatus(replicas=3, available_replicas=1, updated_replicas=1)
ERROR = LastError(code="QuotaRefused", description="no room", observed_at=START)


@pytest.mark.parametrize(
    ("after", "span", "expected"),
    [
        pytest.param(
            PodCliqueSetStatus(replicas=3, available_replicas=2),
            None,
            Haste.AS_IT_GOES,
            id="more replicas are on their way",
        ),
        pytest.param(
            PodCliqueSetStatus(replicas=3, available_replicas=2, last_errors=(ERROR,)),
            Span(started=START, ended=START),
            Haste.SOON,
            id="something is wrong",
        ),
        pytest.param(
            PodCliqueSetStatus(replicas=3, available_replicas=3),
            None,
            Haste.SOON,
            id="all are there",
        ),
        pytest.param(
            PodCliqueSetStatus(replicas=3, available_replicas=2, updated_replicas=1),
            Span(started=START, ended=None),
            Haste.NEXT_STEP,
            id="an update has come further",
        ),
        pytest.param(
            PodCliqueSetStatus(replicas=3, available_replicas=1, updated_replicas=1),
            Span(started=START, ended=None),
            Haste.NOW_AND_THEN,
            id="an update goes on",
        ),
    ],
)
def test_how_soon_counts_are_told_hangs_on_what_is_to_come(
    after: PodCliqueSetStatus, span: Span | None, expected: Haste
) -> None:
    assert meanwhile(BEFORE, after, span) is expected
