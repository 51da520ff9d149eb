# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from trellis.kube.credentials import Certificate
from trellis.kube.errors import BadConfig
from trellis.kube.tls import Trust, context
from trellis.webhooks.certificates import Authority, Subject

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHERE = "config: clusters[c].cluster.certificate-authority"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("test", NOW)


def test_the_authority_of_the_cluster_is_believed_and_no_other(authority: Authority) -> None:
    made = context(Trust(where=WHERE, authority=authority.pair.certificate), None)
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname
    assert len(made.get_ca_certs()) == 1


def test_authorities_without_key_identifiers_are_not_refused(authority: Authority) -> None:
    made = context(Trust(where=WHERE, authority=authority.pair.certificate), None)
    assert not made.verify_flags & ssl.VERIFY_X509_STRICT


def test_nothing_is_checked_when_told_so() -> None:
    made = context(Trust(where=WHERE, insecure=True), None)
    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_NONE, False)


def test_without_an_authority_those_of_the_machine_are_believed() -> None:
    assert context(Trust(where=WHERE), None).verify_mode is ssl.CERT_REQUIRED


def test_an_authority_in_a_file_is_read_each_time(tmp_path: Path, authority: Authority) -> None:
    file = tmp_path / "ca.crt"
    trust = Trust(where=WHERE, authority_file=file)
    with pytest.raises(BadConfig, match="certificate authority is unusable"):
        context(trust, None)
    file.write_bytes(authority.pair.certificate)
    assert len(context(trust, None).get_ca_certs()) == 1


@pytest.mark.parametrize("content", [b"no certificate", b"\xff\xfe"], ids=["text", "bytes"])
def test_an_authority_that_is_none_is_named(content: bytes) -> None:
    with pytest.raises(BadConfig, match=r"^config: clusters\[c\]"):
        context(Trust(where=WHERE, authority=content), None)


def test_a_client_certificate_is_loaded_with_its_key(authority: Authority) -> None:
    trust = Trust(where=WHERE, authority=authority.pair.certificate)
    pair, other = (authority.issue(Subject(name=name), NOW) for name in ("me", "you"))
    context(trust, Certificate(pair.certificate, pair.key))
    with pytest.raises(BadConfig, match="certificate and its key do not work") as raised:
        context(trust, Certificate(pair.certificate, other.key))
    assert "PRIVATE" not in str(raised.value)
