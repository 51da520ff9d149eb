# SPDX-License-Identifier: Apache-2.0
"""Every golden is sharp: whatever a server did wrong would be seen."""

from __future__ import annotations

import pytest

from tests.conformance import goldens
from tests.support.sharpness import unseen

MINORS = sorted(folder.name for folder in goldens.FOLDER.iterdir())


@pytest.mark.parametrize("minor", MINORS)
def test_anything_wrong_is_seen_in_every_golden(minor: str) -> None:
    assert not unseen(minor)
