# SPDX-License-Identifier: Apache-2.0
"""With whose rights to ask, and where: as a kubelet tells every container.

Token and authority are read anew for every request, because they are renewed while we wait.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
# Where the mount is elsewhere, as in a test.
MOUNT_VARIABLE = "TRELLIS_SERVICE_ACCOUNT"


class NoCluster(Exception):
    """Nothing says where the API server is."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the API server listens. The host of an IPv6 address is without brackets."""

    host: str
    port: int

    @property
    def text(self) -> str:
        """As it stands in the head of a request."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Access(Protocol):
    """Raises OSError or ValueError for what cannot be read now; it may be there a moment later."""

    @property
    def address(self) -> Address: ...

    async def namespace(self) -> str: ...

    async def token(self) -> str: ...

    async def trust(self) -> ssl.SSLContext: ...


@dataclass(frozen=True, slots=True)
class Mounted:
    """That of the service account in a folder, as a projected volume fills it."""

    address: Address
    folder: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Mounted:
        host = environ.get("KUBERNETES_SERVICE_HOST", "").strip("[]")
        port = environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise NoCluster(
                f"KUBERNETES_SERVICE_HOST {host!r} and KUBERNETES_SERVICE_PORT {port!r} name no"
                " server; `trellis wait` runs in a pod, where both are set"
            )
        return cls(Address(host, int(port)), Path(environ.get(MOUNT_VARIABLE) or MOUNT))

    async def namespace(self) -> str:
        return self._read("namespace")

    async def token(self) -> str:
        return self._read("token")

    async def trust(self) -> ssl.SSLContext:
        return trusting(self._read("ca.crt"))

    def _read(self, name: str) -> str:
        file = self.folder / name
        content = file.read_text("ascii").strip()
        if not content:
            raise ValueError(f"{file} is empty")
        return content


@lru_cache(maxsize=1)
def trusting(authority: str) -> ssl.SSLContext:
    """Believes servers of that authority alone. All connections share it until that is renewed."""
    made = ssl.create_default_context(cadata=authority)
    # From Python 3.13 on this is set, and refuses the authorities of many clusters, which have no
    # key identifiers.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return made
