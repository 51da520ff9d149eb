# SPDX-License-Identifier: Apache-2.0
"""Everything needed to reach one API as one user, and what finding it depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.instruments.clock import Clock
    from trellis.kube.credentials import Credentials
    from trellis.kube.tls import Trust
    from trellis.kube.transport import Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """`namespace` is the one to use where none is named; `impersonation` are headers."""

    server: str
    trust: Trust
    credentials: Credentials
    namespace: str = "default"
    proxy: str = field(default="", repr=False)
    impersonation: Pairs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the process finds itself in.

    `terminal`: a person is there to be asked. `service_account`: where a kubelet would mount one.
    """

    clock: Clock
    environ: Mapping[str, str] = field(repr=False)
    terminal: bool = False
    service_account: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount")
