# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tests.unit.webhooks.builders import NOW, StandingClock, a_leaf
from trellis.webhooks.certificates import Authority, Pair
from trellis.webhooks.files import CertificateFiles
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.reload import Reloader
from trellis.webhooks.tls import ServingCertificate

if TYPE_CHECKING:
    from pathlib import Path

AUTHORITY = Authority.create("given", NOW)
FIRST = a_leaf(AUTHORITY)
SECOND = a_leaf(AUTHORITY, life=timedelta(days=180))
EXPIRY = "trellis_admission_certificate_expiry_timestamp_seconds"
FAILURES = "trellis_admission_certificate_failures_total"


class Folder:
    """Files as a mounted Secret has them, and a server that is kept up to date with them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = StandingClock()
        self.registry = CollectorRegistry()
        self.serving = ServingCertificate()
        self.files = CertificateFiles(
            certificate=path / "tls.crt", key=path / "tls.key", bundle=path / "ca.crt"
        )
        metrics = Metrics(self.registry, ())
        self.reloader = Reloader(self.files, self.serving, self.clock, metrics)

    def write(self, pair: Pair, bundle: bytes = AUTHORITY.pair.certificate) -> None:
        (self.path / "tls.crt").write_bytes(pair.certificate)
        (self.path / "tls.key").write_bytes(pair.key)
        (self.path / "ca.crt").write_bytes(bundle)

    def served_until(self) -> timedelta | None:
        return self.serving.expires - NOW if self.serving.expires else None


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def test_files_are_served_and_exchanged_when_they_change(folder: Folder) -> None:
    folder.write(FIRST)
    await folder.reloader.refresh()
    assert folder.served_until() == timedelta(days=90)
    folder.write(SECOND)
    await folder.reloader.refresh()
    assert folder.served_until() == timedelta(days=180)
    expiry = folder.registry.get_sample_value(EXPIRY)
    assert expiry == (NOW + timedelta(days=180)).timestamp()


async def test_files_that_did_not_change_are_not_loaded_again(folder: Folder) -> None:
    folder.write(FIRST)
    with capture_logs() as logs:
        await folder.reloader.refresh()
        await folder.reloader.refresh()
    assert [entry["event"] for entry in logs] == ["a certificate is served"]


async def test_bad_files_are_reported_once_and_the_old_ones_stay_until_good_ones_come(
    folder: Folder,
) -> None:
    folder.write(FIRST)
    await folder.reloader.refresh()
    folder.write(Pair(SECOND.certificate, FIRST.key))
    with capture_logs() as logs:
        await folder.reloader.refresh()
        await folder.reloader.refresh()
    assert [entry["log_level"] for entry in logs] == ["error"]
    assert "cannot be loaded together" in logs[0]["problem"]
    assert folder.registry.get_sample_value(FAILURES) == 2
    assert folder.served_until() == timedelta(days=90)
    folder.write(SECOND)
    await folder.reloader.refresh()
    assert folder.served_until() == timedelta(days=180)


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key", "ca.crt"])
async def test_a_missing_file_is_named(folder: Folder, missing: str) -> None:
    folder.write(FIRST)
    (folder.path / missing).unlink()
    with capture_logs() as logs:
        await folder.reloader.refresh()
    assert f"{folder.path / missing} cannot be read: No such file" in logs[0]["problem"]
    assert folder.serving.flaw(NOW) == "there is no certificate yet"


async def test_an_empty_bundle_means_that_nobody_can_tell(folder: Folder) -> None:
    folder.write(FIRST, bundle=b"")
    await folder.reloader.refresh()
    assert folder.serving.flaw(NOW) == ""


async def test_files_that_come_late_are_found(folder: Folder) -> None:
    running = asyncio.create_task(folder.reloader.run(period=10))
    await asyncio.sleep(0)
    assert folder.served_until() is None
    folder.write(FIRST)
    while folder.served_until() is None:
        await asyncio.sleep(0)
    running.cancel()


async def test_a_key_is_in_no_log(folder: Folder) -> None:
    folder.write(Pair(FIRST.certificate, SECOND.key))
    with capture_logs() as logs:
        await folder.reloader.refresh()
    assert "PRIVATE KEY" not in str(logs)
