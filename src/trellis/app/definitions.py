# SPDX-License-Identifier: Apache-2.0
"""Whether the cluster has our CustomResourceDefinitions, and not older ones than this version's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis import __version__
from trellis.api.annotation import RELEASE
from trellis.api.core.definition import Definition
from trellis.api.schema.kinds import KINDS
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError, NotFound

if TYPE_CHECKING:
    from typing import NoReturn

    from trellis.instruments.clock import Clock
    from trellis.kube.client import Client

PERIOD_SECONDS = 30.0
REMEDY = "run: trellis crds | kubectl apply -f -"

_log = logger(__name__)


class Definitions:
    """Looks again and again; until all are there and new enough, the operator is not ready."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._found = client.of(Definition.resource, Definition)
        self._clock = clock
        self._flaw: str | None = "not looked at yet"

    def why_not(self) -> str | None:
        return self._flaw

    async def run(self) -> NoReturn:
        while True:
            before = self._flaw
            self._flaw = await self._look()
            if self._flaw and self._flaw != before:
                _log.error("definitions cannot be used", problem=self._flaw)
            await self._clock.sleep(PERIOD_SECONDS)

    async def _look(self) -> str | None:
        for served in KINDS:
            name = served.type.resource.full_name
            try:
                found = await self._found.get(name)
            except NotFound:
                return f"{name} is not installed; {REMEDY}"
            except KubeError as error:
                return f"{name} cannot be read: {error}"
            if flaw := outdated(name, found.metadata.annotations.get(RELEASE, "")):
                return flaw
        return None


def outdated(name: str, release: str, own: str = __version__) -> str | None:
    """Why a definition of that release will not do. One of a newer release will."""
    if _numbers(release) >= _numbers(own):
        return None
    written = f"of release {release}" if release else "of another operator"
    return f"{name} is {written}, older than {own}; {REMEDY}"


def _numbers(release: str) -> tuple[int, ...]:
    parts = release.split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
