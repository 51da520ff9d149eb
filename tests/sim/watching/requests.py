# SPDX-License-Identifier: Apache-2.0
"""What is asked for, whatever comes of it: I-06 and I-07 of requests, I-02 of commits."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from tests.sim.chronicle import label
from tests.sim.watching.finding import Finding
from trellis.api.labels import MANAGED_BY, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Chronicle, Commit
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


def repeated(request: Request, status: int, chronicle: Chronicle) -> Iterator[Finding]:
    """I-06, where nothing goes wrong: what the operator has made and can see it does not make once
    more. It would be refused, so nothing else shows that it decides on less than it knows."""
    if request.method != "POST" or status != HTTPStatus.CONFLICT:
        return
    *_, namespace, plural = request.path.split("/")
    body: dict[str, Any] = msgspec.json.decode(request.body or b"{}")
    found = chronicle.get(plural, namespace, body["metadata"]["name"])
    if found is not None and label(found, MANAGED_BY) == OPERATOR:
        yield Finding("I-06", f"{request} makes {found['metadata']['name']} once more")
