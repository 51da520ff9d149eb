# SPDX-License-Identifier: Apache-2.0
"""A certificate that somebody else provides as files: cert-manager, a mounted Secret, an admin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.webhooks.certificates import Pair
from trellis.webhooks.identity import Identity, Unusable

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateFiles:
    """PEM files, read anew each time.

    `bundle` is the authority that the webhook configurations name; without it, or while its file
    is empty, nobody here can tell whether the API server trusts the certificate.
    """

    certificate: Path
    key: Path
    bundle: Path | None = None

    async def read(self) -> Identity:
        pair = Pair(_content(self.certificate), _content(self.key))
        return Identity(pair, (_content(self.bundle) or None) if self.bundle else None)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from error
