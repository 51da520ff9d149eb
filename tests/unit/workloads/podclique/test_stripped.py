# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.api.core.pod import Pod
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.api.meta import Metadata
from trellis.kube.events import Change, Delta
from trellis.runtime.cache import Cache
from trellis.workloads.podclique.stripped import UNKNOWN, Stripped
from trellis.workloads.pods import is_outdated

WANTED = {"grove.io/podclique": "llm-0-w", POD_TEMPLATE_HASH: "new"}


def a_pod(**labels: str) -> Pod:
    return Pod(metadata=Metadata(name="a", namespace="ns", uid="uid-a", labels=labels))


@pytest.mark.parametrize(
    ("seen", "left", "given"),
    [
        (a_pod(**{POD_TEMPLATE_HASH: "old"}), {}, "old"),
        (a_pod(**{POD_TEMPLATE_HASH: "old"}), {POD_TEMPLATE_HASH: "older"}, "older"),
        (None, {POD_TEMPLATE_HASH: "old"}, "old"),
        (None, {}, UNKNOWN),
        (a_pod(), {}, UNKNOWN),
    ],
    ids=["it was seen", "it still says so", "it says so", "nobody knows", "it never said"],
)
def test_a_pod_that_lost_its_labels_is_never_said_to_be_of_a_newer_template(
    seen: Pod | None, left: dict[str, str], given: str
) -> None:
    cache = Cache(Pod.resource, Pod)
    stripped = Stripped(cache)
    if seen is not None:
        cache.apply(Delta([Change("ns", "a", seen)], "1"))
        cache.apply(Delta([Change("ns", "a", None)], "2"))
    holder = Metadata(name="a", namespace="ns", uid="uid-a", labels=left)
    labels = stripped.labels(holder, WANTED)
    assert labels == {**WANTED, POD_TEMPLATE_HASH: given}
    assert is_outdated(a_pod(**labels), frozenset({"new"}))
