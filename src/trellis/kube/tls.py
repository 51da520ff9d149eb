# SPDX-License-Identifier: Apache-2.0
"""How the server proves who it is, and how our certificate gets into a connection."""

from __future__ import annotations

import ssl
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.kube.errors import BadConfig

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.kube.credentials import Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whom to believe. Neither authority: those of the machine. `where` names it in errors."""

    where: str
    authority: bytes = b""
    authority_file: Path | None = None
    insecure: bool = False
    server_name: str = ""


def context(trust: Trust, certificate: Certificate | None) -> ssl.SSLContext:
    """A file is read anew each time, so that a rotated authority is found."""
    if trust.insecure:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    else:
        made = _verifying(trust)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate:
        _load(made, certificate, trust.where)
    return made


def _verifying(trust: Trust) -> ssl.SSLContext:
    try:
        authority = trust.authority_file.read_bytes() if trust.authority_file else trust.authority
        made = ssl.create_default_context(cadata=authority.decode("ascii") or None)
    except (OSError, ValueError) as error:
        raise BadConfig(f"{trust.where}: the certificate authority is unusable: {error}") from None
    # From Python 3.13 on this is set, and refuses the authorities of many clusters, which have no
    # key identifiers.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return made


def _load(made: ssl.SSLContext, certificate: Certificate, where: str) -> None:
    # OpenSSL takes a certificate from a file only: one that its owner alone can read, for a moment.
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate.chain + b"\n" + certificate.key + b"\n")
        file.flush()
        try:
            made.load_cert_chain(file.name)
        except ssl.SSLError as error:
            raise BadConfig(
                f"{where}: the client certificate and its key do not work: {error.reason or error}"
            ) from None
