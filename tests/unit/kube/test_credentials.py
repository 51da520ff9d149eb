# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import VirtualClock, virtual
from trellis.kube import in_cluster
from trellis.kube.access import Surroundings
from trellis.kube.connect import find_access
from trellis.kube.credentials import REREAD_SECONDS, Identity, Stored, bearer
from trellis.kube.errors import BadConfig

if TYPE_CHECKING:
    from pathlib import Path


def token(value: str) -> Identity:
    return Identity((("Authorization", f"Bearer {value}"),))


class Source:
    """A file that changes under its reader. Nothing written: it cannot be read."""

    def __init__(self, value: str | None) -> None:
        self.value = value
        self.reads = 0

    def read(self) -> Identity:
        self.reads += 1
        if self.value is None:
            raise BadConfig("cannot be read")
        return token(self.value)


@virtual
async def test_it_is_read_anew_once_in_a_while() -> None:
    source, clock = Source("old"), VirtualClock()
    stored = Stored(source.read, clock)
    assert await stored.identity() == token("old")
    source.value = "new"
    assert await stored.identity() == token("old")
    assert source.reads == 1
    await clock.sleep(REREAD_SECONDS + 1)
    assert await stored.identity() == token("new")


@virtual
async def test_after_a_refusal_it_is_read_at_once() -> None:
    source = Source("old")
    stored = Stored(source.read, VirtualClock())
    refused = await stored.identity()
    source.value = "new"
    assert await stored.renewed(refused) == token("new")
    # The next that was refused with the old one finds the new one without reading.
    assert await stored.renewed(refused) == token("new")
    assert source.reads == 2


@virtual
async def test_a_refused_token_that_did_not_change_stays_what_it_is() -> None:
    source = Source("same")
    stored = Stored(source.read, VirtualClock())
    refused = await stored.identity()
    assert await stored.renewed(refused) is refused


@virtual
async def test_a_file_that_vanishes_for_a_moment_does_no_harm() -> None:
    source, clock = Source("old"), VirtualClock()
    stored = Stored(source.read, clock)
    await stored.identity()
    source.value = None
    await clock.sleep(REREAD_SECONDS + 1)
    assert await stored.identity() == token("old")
    fresh = Stored(source.read, clock)
    with pytest.raises(BadConfig):
        await fresh.identity()


@pytest.mark.parametrize("value", ["", "  ", "a b", "a\r\nX-Evil: 1", "ключ"])
def test_what_no_header_can_carry_is_no_token(value: str) -> None:
    with pytest.raises(BadConfig, match=r"^here: is no token") as raised:
        bearer(value, "here")
    assert not value.strip() or value.strip() not in str(raised.value)


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "namespace").write_text("ours\n")
    return tmp_path


def in_pod(mount: Path, host: str = "10.0.0.1", **more: str) -> Surroundings:
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443", **more}
    return Surroundings(clock=VirtualClock(), environ=environ, service_account=mount)


def test_a_pod_finds_its_server_namespace_and_authority(mount: Path) -> None:
    access = find_access(in_pod(mount))
    assert (access.server, access.namespace) == ("https://10.0.0.1:443", "ours")
    assert access.trust.authority_file == mount / "ca.crt"
    assert find_access(in_pod(mount, "fd00::1")).server == "https://[fd00::1]:443"


def test_a_kubeconfig_that_is_named_goes_before_the_pod(mount: Path) -> None:
    with pytest.raises(BadConfig, match=r"^/no/such: "):
        find_access(in_pod(mount, KUBECONFIG="/no/such"))
    with pytest.raises(BadConfig, match=r"^/no/home/.kube/config: "):
        find_access(in_pod(mount, HOME="/no/home"), context="chosen")


@virtual
async def test_a_pod_s_token_is_read_anew(mount: Path) -> None:
    credentials = find_access(in_pod(mount)).credentials
    first = await credentials.identity()
    assert first == token("first")
    (mount / "token").write_text("second\n")
    assert await credentials.renewed(first) == token("second")


@virtual
async def test_a_pod_whose_token_vanished_is_told_so(mount: Path) -> None:
    credentials = find_access(in_pod(mount)).credentials
    (mount / "token").unlink()
    with pytest.raises(BadConfig, match="let the pod mount its service account's token"):
        await credentials.identity()


def test_what_is_no_pod_is_told_so(mount: Path) -> None:
    elsewhere = Surroundings(clock=VirtualClock(), environ={}, service_account=mount)
    assert not in_cluster.is_in_cluster(elsewhere)
    with pytest.raises(BadConfig, match="KUBERNETES_SERVICE_HOST: it and its port name no server"):
        in_cluster.access(elsewhere)
