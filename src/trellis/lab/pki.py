# SPDX-License-Identifier: Apache-2.0
"""The keys of one lab on disk: authorities, signing key and token stay, leaves are made anew."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from trellis.lab.components import CONTROLLER_MANAGER, FRONT_PROXY, SCHEDULER, SERVICE_HOSTS
from trellis.webhooks.certificates import Authority, Pair, Subject, signing_key

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ADMIN_GROUP = "system:masters"


class Keys:
    """Everything secret about a lab, under one folder that only its owner can read."""

    def __init__(self, folder: Path, now: datetime) -> None:
        folder.mkdir(exist_ok=True, mode=0o700)
        self._folder = folder
        self._now = now
        self.authority = self._authority("ca")
        self._service_account()
        self.token = self._admin_token()
        etcd = self._authority("etcd-ca")
        self._leaf(etcd, "etcd", Subject(name="etcd", hosts=LOOPBACK))
        self._leaf(etcd, "etcd-client", Subject(name="kube-apiserver"))
        front_proxy = self._authority("front-proxy-ca")
        self._leaf(front_proxy, FRONT_PROXY, Subject(name=FRONT_PROXY))
        server = Subject(name="kube-apiserver", hosts=SERVICE_HOSTS)
        self._leaf(self.authority, "kube-apiserver", server)

    def component(self, name: str) -> Pair:
        """The client certificate of a component, under the user that RBAC's own roles name."""
        assert name in {CONTROLLER_MANAGER, SCHEDULER}  # noqa: S101
        return self.authority.issue(Subject(name=f"system:{name}"), self._now)

    def _authority(self, name: str) -> Authority:
        certificate, key = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        if certificate.exists() and key.exists():
            return Authority(Pair(certificate.read_bytes(), key.read_bytes()))
        made = Authority.create(f"trellis lab {name}", self._now)
        self._write(f"{name}.key", made.pair.key)
        self._write(f"{name}.crt", made.pair.certificate)
        return made

    def _leaf(self, authority: Authority, file: str, subject: Subject) -> None:
        pair = authority.issue(subject, self._now)
        self._write(f"{file}.crt", pair.certificate)
        self._write(f"{file}.key", pair.key)

    def _service_account(self) -> None:
        if (self._folder / "sa.pub").exists():
            return
        private, public = signing_key()
        self._write("sa.key", private)
        self._write("sa.pub", public)

    def _admin_token(self) -> str:
        file = self._folder / "tokens.csv"
        if file.exists():
            return file.read_text().split(",", 1)[0]
        token = secrets.token_urlsafe(32)
        self._write(file.name, f'{token},admin,admin,"{ADMIN_GROUP}"\n'.encode())
        return token

    def _write(self, name: str, content: bytes) -> None:
        path = self._folder / name
        path.touch(mode=0o600)
        path.write_bytes(content)
