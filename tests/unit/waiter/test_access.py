# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from trellis.waiter.access import MOUNT, Mounted, NoCluster
from trellis.webhooks.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        pytest.param("10.0.0.1", "443", "10.0.0.1:443", id="IPv4"),
        pytest.param("fd00::1", "6443", "[fd00::1]:6443", id="IPv6"),
        pytest.param("[fd00::1]", "6443", "[fd00::1]:6443", id="IPv6 in brackets"),
        pytest.param("api.example", "1", "api.example:1", id="a name"),
    ],
)
def test_the_server_is_where_the_kubelet_says(host: str, port: str, text: str) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    found = Mounted.of(environ)
    assert found.address.text == text
    assert not found.address.host.startswith("[")
    assert str(found.folder) == MOUNT


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="no host"),
        pytest.param(
            {"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "x"}, id="no port"
        ),
        pytest.param({"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "0"}, id="port 0"),
        pytest.param(
            {"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "65536"}, id="too high"
        ),
    ],
)
def test_outside_a_pod_it_says_what_is_missing(environ: dict[str, str]) -> None:
    with pytest.raises(NoCluster, match="KUBERNETES_SERVICE_HOST"):
        Mounted.of(environ)


async def test_what_is_mounted_is_read_anew_each_time(tmp_path: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "h", "TRELLIS_SERVICE_ACCOUNT": str(tmp_path)}
    access = Mounted.of(environ)
    for token in ("first", "second"):
        (tmp_path / "token").write_text(f"{token}\n")
        assert await access.token() == token
    (tmp_path / "namespace").write_text("team")
    assert await access.namespace() == "team"


async def test_all_connections_trust_alike_until_the_authority_is_renewed(tmp_path: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "h", "TRELLIS_SERVICE_ACCOUNT": str(tmp_path)}
    access = Mounted.of(environ)
    trusted = []
    for _ in range(2):
        authority = Authority.create("test", datetime(2026, 5, 1, tzinfo=UTC))
        (tmp_path / "ca.crt").write_bytes(authority.pair.certificate)
        trusted += [await access.trust(), await access.trust()]
    first, same, renewed, again = trusted
    assert first is same
    assert renewed is again
    assert renewed is not first
    assert renewed.get_ca_certs() != first.get_ca_certs()


async def test_what_is_not_there_yet_is_named(tmp_path: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "h", "TRELLIS_SERVICE_ACCOUNT": str(tmp_path)}
    access = Mounted.of(environ)
    with pytest.raises(OSError, match="token"):
        await access.token()
    (tmp_path / "token").write_text("")
    with pytest.raises(ValueError, match="token is empty"):
        await access.token()
