# SPDX-License-Identifier: Apache-2.0
"""What is asked for, whatever comes of it: I-07 of requests, I-02 of commits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Commit
    from trellis.kube.transport import Request


class Requests:
    """I-02: what is only tried changes nothing."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.caller.dry:
            yield Finding("I-02", f"{commit.place} changed by a dry run of {commit.caller.path}")


def unguarded(request: Request) -> Iterator[Finding]:
    """I-07: a deletion by the operator names the uid that it means."""
    if request.method != "DELETE":
        return
    options: dict[str, Any] = msgspec.json.decode(request.body) if request.body else {}
    if not options.get("preconditions", {}).get("uid"):
        yield Finding("I-07", f"{request} would delete whatever has that name")
