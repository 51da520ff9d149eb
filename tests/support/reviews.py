# SPDX-License-Identifier: Apache-2.0
"""Reviews as an API server sends them, and a handler that keeps them waiting."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from tests.support.waiting import eventually
from trellis.webhooks.verdict import ALLOWED

if TYPE_CHECKING:
    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Verdict

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def a_thing(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "one", "namespace": "team"},
        "spec": {"size": 1, **fields},
    }


def a_request(operation: str = "CREATE", **changes: Any) -> dict[str, Any]:
    """The request of a review; a change to None leaves the field out."""
    request = {
        "uid": UID,
        "kind": {"group": "example.com", "version": "v1", "kind": "Thing"},
        "resource": {"group": "example.com", "version": "v1", "resource": "things"},
        "name": "one",
        "namespace": "team",
        "operation": operation,
        "userInfo": {"username": "ann", "groups": ["people"]},
        "object": None if operation == "DELETE" else a_thing(),
        "oldObject": a_thing() if operation in {"UPDATE", "DELETE"} else None,
        "dryRun": False,
        **changes,
    }
    return {key: value for key, value in request.items() if value is not None}


def a_body(operation: str = "CREATE", **changes: Any) -> bytes:
    return an_envelope(request=a_request(operation, **changes))


def an_envelope(**changes: Any) -> bytes:
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", **changes}
    return json.dumps(
        {key: envelope[key] for key in envelope if envelope[key] is not None}
    ).encode()


class Gate:
    """A handler that holds its review until it is opened."""

    def __init__(self) -> None:
        self.entered = 0
        self._open = threading.Event()

    def __call__(self, _: Review) -> Verdict:
        self.entered += 1
        self._open.wait()
        return ALLOWED

    def open(self) -> None:
        self._open.set()

    async def holding(self, count: int) -> None:
        async def held() -> bool:
            return self.entered >= count

        await eventually(held, f"{count} reviews to be held")
