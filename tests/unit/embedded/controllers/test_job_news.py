# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from trellis.embedded.controllers.job.news import news
from trellis.runtime.notes import Note


def status(**conditions: str) -> dict[str, Any]:
    found = [
        {"type": kind, "status": held, "reason": "Why", "message": "so it is"}
        for kind, held in conditions.items()
    ]
    return {"conditions": found} if found else {}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param({}, {}, [], id="nothing changed"),
        pytest.param({}, status(SuccessCriteriaMet="True"), [], id="almost over"),
        pytest.param(
            {}, status(Complete="True"), [Note("Completed", "Job completed")], id="completed"
        ),
        pytest.param(status(Complete="True"), status(Complete="True"), [], id="completed before"),
        pytest.param(
            {}, status(Failed="True"), [Note("Why", "so it is", type="Warning")], id="failed"
        ),
        pytest.param(
            {}, status(Suspended="True"), [Note("Suspended", "Job suspended")], id="suspended"
        ),
        pytest.param(
            status(Suspended="True"),
            status(Suspended="False"),
            [Note("Resumed", "Job resumed")],
            id="resumed",
        ),
        pytest.param(status(Suspended="False"), status(Suspended="False"), [], id="goes on"),
    ],
)
def test_what_changes_is_told_once(
    old: dict[str, Any], new: dict[str, Any], told: list[Note]
) -> None:
    assert news(old, new) == told
