# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.unit.webhooks.builders import NOW, a_leaf
from trellis.webhooks.certificates import Authority, Pair
from trellis.webhooks.identity import Identity, Papers, Unusable, bundle, fingerprint, fingerprints

DAY = timedelta(days=1)
ROOT = Authority.create("root", NOW)
OTHER = Authority.create("other", NOW)
LEAF = a_leaf(ROOT)
NAMESAKE = Authority.create("root", NOW)


def signed_below(root: Authority) -> tuple[Authority, bytes]:
    """An authority that another one has signed, as a company's PKI has them."""
    key = ec.generate_private_key(ec.SECP256R1())
    above = x509.load_pem_x509_certificate(root.pair.certificate)
    signer = serialization.load_pem_private_key(root.pair.key, None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "below")]))
        .issuer_name(above.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + 30 * DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(signer, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Authority(Pair(certificate, private)), certificate


BELOW, LINK = signed_below(ROOT)
CHAINED = a_leaf(BELOW)


def flaw(certificate: bytes, trusted: bytes | None, after: timedelta = DAY) -> str:
    return Papers.of(Identity(Pair(certificate, b""), trusted)).flaw(NOW + after)


@pytest.mark.parametrize(
    ("certificate", "trusted", "after", "said"),
    [
        pytest.param(
            LEAF.certificate, ROOT.pair.certificate, DAY, "", id="signed by the authority"
        ),
        pytest.param(
            LEAF.certificate,
            bundle([OTHER.pair.certificate, ROOT.pair.certificate]),
            DAY,
            "",
            id="signed by one of two",
        ),
        pytest.param(
            LEAF.certificate, OTHER.pair.certificate, DAY, "chains to no authority", id="by another"
        ),
        pytest.param(
            LEAF.certificate,
            NAMESAKE.pair.certificate,
            DAY,
            "chains to no authority",
            id="by another of the same name",
        ),
        pytest.param(
            bundle([CHAINED.certificate, LINK]),
            ROOT.pair.certificate,
            DAY,
            "",
            id="through a link that comes with it",
        ),
        pytest.param(
            CHAINED.certificate,
            ROOT.pair.certificate,
            DAY,
            "chains to no authority",
            id="through a link that is missing",
        ),
        pytest.param(
            bundle([CHAINED.certificate, LINK]),
            ROOT.pair.certificate,
            31 * DAY,
            "chains to no authority",
            id="through a link that has expired",
        ),
        pytest.param(LEAF.certificate, LEAF.certificate, DAY, "", id="itself in the bundle"),
        pytest.param(LEAF.certificate, None, DAY, "", id="where nobody knows the bundle"),
        pytest.param(
            LEAF.certificate,
            ROOT.pair.certificate,
            91 * DAY,
            "expired at 2026-07-30 00:00:00Z",
            id="expired",
        ),
        pytest.param(
            LEAF.certificate,
            ROOT.pair.certificate,
            -DAY,
            "not valid before 2026-04-30 23:55:00Z",
            id="from the future",
        ),
        pytest.param(
            a_leaf(Authority.create("short", NOW, DAY)).certificate,
            Authority.create("short", NOW, DAY).pair.certificate,
            2 * DAY,
            "chains to no authority",
            id="by an authority that has expired",
        ),
    ],
)
def test_what_the_api_server_would_say(
    certificate: bytes, trusted: bytes | None, after: timedelta, said: str
) -> None:
    found = flaw(certificate, trusted, after)
    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.parametrize(
    ("certificate", "trusted", "said"),
    [
        pytest.param(b"", None, "the certificate is no PEM", id="an empty certificate"),
        pytest.param(b"nonsense", None, "the certificate is no PEM", id="a certificate of words"),
        pytest.param(LEAF.certificate, b"", "the bundle of authorities is no PEM", id="no bundle"),
        pytest.param(LEAF.certificate[:99], None, "the certificate is no PEM", id="cut off"),
    ],
)
def test_what_cannot_be_read_is_named(certificate: bytes, trusted: bytes | None, said: str) -> None:
    with pytest.raises(Unusable, match=said):
        flaw(certificate, trusted)


def test_certificates_are_told_apart_by_their_fingerprints() -> None:
    one, other = ROOT.pair.certificate, NAMESAKE.pair.certificate
    assert fingerprints(bundle([one, other])) == {fingerprint(one), fingerprint(other)}
    assert len(fingerprints(bundle([one, other, one]))) == 2


@pytest.mark.parametrize("broken", [b"", b"nonsense"])
def test_a_bundle_that_cannot_be_read_holds_nothing(broken: bytes) -> None:
    assert fingerprints(broken) == frozenset()
