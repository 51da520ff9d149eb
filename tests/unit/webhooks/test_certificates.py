# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from trellis.webhooks.certificates import Authority, Pair, Subject, signing_key

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def certificate(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate)


def verified(leaf: Pair, authority: Authority, host: str, at: datetime = NOW) -> None:
    store = Store([certificate(authority.pair)])
    verifier = PolicyBuilder().store(store).time(at).build_server_verifier(x509.DNSName(host))
    verifier.verify(certificate(leaf), [])


def test_a_server_certificate_passes_a_strict_verifier() -> None:
    authority = Authority.create("test", NOW)
    leaf = authority.issue(Subject(name="api", hosts=("localhost", "127.0.0.1", "::1")), NOW)
    verified(leaf, authority, "localhost")


@pytest.mark.parametrize(
    ("host", "at", "stranger"),
    [
        pytest.param("elsewhere", NOW, False, id="for another host"),
        pytest.param("localhost", NOW + timedelta(days=366), False, id="after a year"),
        pytest.param("localhost", NOW, True, id="by another authority"),
    ],
)
def test_a_certificate_is_refused(host: str, at: datetime, stranger: bool) -> None:
    authority = Authority.create("test", NOW)
    leaf = authority.issue(Subject(name="api", hosts=("localhost",)), NOW)
    trusted = Authority.create("test", NOW) if stranger else authority
    with pytest.raises(VerificationError):
        verified(leaf, trusted, host, at)


def test_only_the_authority_may_sign() -> None:
    authority = Authority.create("test", NOW)
    leaf = certificate(authority.issue(Subject(name="client"), NOW))
    constraints = leaf.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert not constraints.ca
    own = certificate(authority.pair).extensions.get_extension_for_class(x509.BasicConstraints)
    assert own.value.ca


def test_a_client_certificate_carries_its_user_and_groups_and_serves_nothing() -> None:
    pair = Authority.create("test", NOW).issue(
        Subject(name="system:node:a", groups=("system:nodes",)), NOW
    )
    leaf = certificate(pair)
    assert [part.value for part in leaf.subject] == ["system:nodes", "system:node:a"]
    assert leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "system:node:a"
    usages = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [usage._name for usage in usages] == ["clientAuth"]


def test_an_authority_read_back_signs_what_the_first_one_vouches_for() -> None:
    first = Authority.create("test", NOW)
    leaf = Authority(first.pair).issue(Subject(name="api", hosts=("localhost",)), NOW)
    verified(leaf, first, "localhost")


def test_the_halves_of_a_signing_key_belong_together() -> None:
    private, public = signing_key()
    assert load_pem_private_key(private, None).public_key() == load_pem_public_key(public)
