# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.runtime.health import Readiness


def test_ready_is_who_passes_every_check_and_the_others_say_why_not() -> None:
    readiness = Readiness()
    said: dict[str, str | None] = {"crds": "older than this operator: run `trellis crds`"}
    readiness.add("caches", lambda: None)
    readiness.add("crds", lambda: said["crds"])
    assert readiness.why_not() == ("crds: older than this operator: run `trellis crds`",)
    said["crds"] = None
    assert readiness.why_not() == ()


def test_a_check_that_breaks_is_a_reason_and_not_a_crash() -> None:
    readiness = Readiness()
    readiness.add("odd", lambda: str(1 // 0))
    assert readiness.why_not() == ("odd: cannot be checked: integer division or modulo by zero",)
