# SPDX-License-Identifier: Apache-2.0
"""The labels of pods that lost those by which we read them: what they are given again.

All of them follow from their place but one, which says what a pod was made from. It is given as it
was. Where nobody knows, it says so: what may be of any template is renewed with the next update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.pods import is_live
from trellis.workloads.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.core.pod import Pod
    from trellis.api.meta import Metadata
    from trellis.runtime.cache import Cache

UNKNOWN = "unknown"
_MOST = 1024


class Stripped:
    def __init__(self, pods: Cache[Pod]) -> None:
        self._templates: Recent[str, str] = Recent(_MOST)
        pods.subscribe(self._changed)

    def labels(self, holder: Metadata, wanted: Mapping[str, str]) -> Mapping[str, str]:
        """Of those that a new pod in its place would have, those for this one."""
        own = holder.labels.get(POD_TEMPLATE_HASH)
        return {**wanted, POD_TEMPLATE_HASH: own or self._templates.get(holder.uid) or UNKNOWN}

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        if old is None or new is not None or not is_live(old):
            return
        template = old.metadata.labels.get(POD_TEMPLATE_HASH, UNKNOWN)
        self._templates.note(old.metadata.uid, template)
