# SPDX-License-Identifier: Apache-2.0
"""Everything secret about a cluster: its authority, the key of its tokens, the admin's token."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.access import SigningKey
from trellis.embedded.keeping import UnusableData
from trellis.webhooks.certificates import Authority, Pair, Subject
from trellis.webhooks.identity import Identity
from trellis.webhooks.tls import ServingCertificate

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.keeping import Drawer

# What clients inside a real cluster call the API server, and what those of this machine do.
HOSTS = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
    "::1",
)
_AUTHORITY, _SIGNING, _TOKEN = "authority.pem", "accounts.pem", "token"
_KEY_BEGINS = b"-----BEGIN PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class Keys:
    authority: Authority = field(repr=False)
    signing: SigningKey
    token: str = field(repr=False)

    @classmethod
    def kept(cls, drawer: Drawer, now: datetime) -> Keys:
        """Those in the drawer. What is not there yet is made."""
        try:
            pair = drawer.kept(_AUTHORITY, lambda: _joined(Authority.create("trellis", now).pair))
            signing = drawer.kept(_SIGNING, lambda: SigningKey.generate().pem)
            token = drawer.kept(_TOKEN, lambda: secrets.token_urlsafe(32).encode())
            return cls(Authority(_parted(pair)), SigningKey.load(signing), token.decode())
        except ValueError:
            raise UnusableData(
                f"the keys in {drawer.folder} cannot be read: restore them from a backup, or remove"
                " them to have new ones made; kubeconfigs and tokens of before are void then"
            ) from None

    @property
    def bundle(self) -> bytes:
        """The authority's certificate, PEM."""
        return self.authority.pair.certificate

    def tls(self, hosts: Iterable[str], now: datetime) -> ssl.SSLContext:
        """For a server under these names, and those that every API server has."""
        names = tuple(dict.fromkeys((*HOSTS, *hosts)))
        pair = self.authority.issue(Subject(name="kube-apiserver", hosts=names), now)
        serving = ServingCertificate()
        serving.use(Identity(pair, self.bundle), now)
        return serving.context


def _joined(pair: Pair) -> bytes:
    """In one file, so that neither is ever there without the other."""
    return pair.certificate + pair.key


def _parted(content: bytes) -> Pair:
    certificate, found, key = content.partition(_KEY_BEGINS)
    return Pair(certificate, found + key)
