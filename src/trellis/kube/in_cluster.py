# SPDX-License-Identifier: Apache-2.0
"""Access from inside a pod, by the service account that the kubelet mounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.kube.access import Access
from trellis.kube.credentials import Identity, Stored, bearer
from trellis.kube.errors import BadConfig
from trellis.kube.proxy import is_web_url, proxy_for
from trellis.kube.tls import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.kube.access import Surroundings


def is_in_cluster(surroundings: Surroundings) -> bool:
    token = surroundings.service_account / "token"
    return "KUBERNETES_SERVICE_HOST" in surroundings.environ and token.is_file()


def access(surroundings: Surroundings) -> Access:
    """Token and authority are read anew as the kubelet renews them."""
    mount = surroundings.service_account
    host = surroundings.environ.get("KUBERNETES_SERVICE_HOST", "")
    port = surroundings.environ.get("KUBERNETES_SERVICE_PORT", "443")
    # An address of IPv6 stands in brackets within a URL.
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    if not is_web_url(server):
        raise BadConfig(
            "KUBERNETES_SERVICE_HOST: it and its port name no server; this is no pod:"
            " name a kubeconfig"
        )
    authority = mount / "ca.crt"
    return Access(
        server=server,
        trust=Trust(where=str(authority), authority_file=authority),
        credentials=Stored(lambda: _identity(mount / "token"), surroundings.clock),
        namespace=_namespace(mount),
        proxy=proxy_for(server, surroundings.environ),
    )


def _identity(file: Path) -> Identity:
    try:
        return Identity(bearer(file.read_text(errors="replace"), str(file)))
    except OSError as error:
        raise BadConfig(
            f"{file}: cannot be read: {error.strerror};"
            " let the pod mount its service account's token"
        ) from None


def _namespace(mount: Path) -> str:
    try:
        return (mount / "namespace").read_text().strip() or "default"
    except OSError:
        return "default"
