# SPDX-License-Identifier: Apache-2.0
"""Handshakes in memory: what a client sees of a certificate that is exchanged while it serves."""

from __future__ import annotations

import ssl
import tempfile
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization

from tests.unit.webhooks.builders import a_leaf
from trellis.webhooks.certificates import Authority, Pair, Subject
from trellis.webhooks.identity import Identity, Unusable
from trellis.webhooks.tls import ServingCertificate

# OpenSSL checks certificates by the machine's own clock.
NOW = datetime.now(UTC)
FIRST = Authority.create("first", NOW)
SECOND = Authority.create("second", NOW)


def identity(authority: Authority, *, trusted: Authority | None = None) -> Identity:
    return Identity(a_leaf(authority, now=NOW), (trusted or authority).pair.certificate)


def client(authority: Authority, certificate: Pair | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    context.set_alpn_protocols(["h2", "http/1.1"])
    if certificate:
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate.certificate + certificate.key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


class Pipe:
    """One end of a connection that is no socket."""

    def __init__(self, context: ssl.SSLContext, *, host: str | None) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(
            self.incoming, self.outgoing, server_side=host is None, server_hostname=host
        )

    def shake(self) -> bool:
        try:
            self.session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def get_extra_info(self, name: str) -> ssl.SSLObject:
        assert name == "ssl_object"
        return self.session


def connected(
    certificate: ServingCertificate, client: ssl.SSLContext, host: str = "127.0.0.1"
) -> tuple[Pipe, Pipe]:
    """Both ends after a handshake; an IP address sends no server name, as the API server's."""
    ours, theirs = Pipe(certificate.context, host=None), Pipe(client, host=host)
    done = [False, False]
    while not all(done):
        done = [theirs.shake(), ours.shake()]
        ours.incoming.write(theirs.outgoing.read())
        theirs.incoming.write(ours.outgoing.read())
    return ours, theirs


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_handshake_takes_the_certificate_of_the_moment(host: str) -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST), NOW)
    before, _ = connected(serving, client(FIRST), host)
    assert serving.is_current(before)  # type: ignore[arg-type]
    serving.use(identity(SECOND), NOW)
    after, theirs = connected(serving, client(SECOND), host)
    assert not serving.is_current(before)  # type: ignore[arg-type]
    assert serving.is_current(after)  # type: ignore[arg-type]
    assert theirs.session.selected_alpn_protocol() == "http/1.1"
    with pytest.raises(ssl.SSLCertVerificationError):
        connected(serving, client(FIRST), host)


def test_a_connection_stays_current_when_only_the_bundle_is_another() -> None:
    serving = ServingCertificate()
    first = identity(FIRST)
    serving.use(first, NOW)
    ours, _ = connected(serving, client(FIRST))
    both = FIRST.pair.certificate + SECOND.pair.certificate
    serving.use(Identity(first.pair, both), NOW)
    assert serving.is_current(ours)  # type: ignore[arg-type]


def test_a_connection_goes_on_when_the_certificate_is_exchanged() -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST), NOW)
    ours, theirs = connected(serving, client(FIRST))
    serving.use(identity(SECOND), NOW)
    theirs.session.write(b"still here")
    ours.incoming.write(theirs.outgoing.read())
    assert ours.session.read() == b"still here"


def test_a_session_cannot_be_resumed_past_a_new_certificate() -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST), NOW)
    _, theirs = connected(serving, client(FIRST))
    with pytest.raises(ssl.SSLWantReadError):
        theirs.session.read()
    assert theirs.session.session is None or not theirs.session.session.has_ticket


def test_without_a_certificate_a_handshake_is_refused() -> None:
    with pytest.raises(ssl.SSLError):
        connected(ServingCertificate(), client(FIRST))


@pytest.mark.parametrize(
    ("version", "served"),
    [
        pytest.param(ssl.TLSVersion.TLSv1_3, True, id="1.3"),
        pytest.param(ssl.TLSVersion.TLSv1_2, True, id="1.2"),
        pytest.param(ssl.TLSVersion.TLSv1_1, False, id="1.1"),
    ],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated:DeprecationWarning")
def test_tls_is_at_least_1_2(version: ssl.TLSVersion, served: bool) -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST), NOW)
    context = client(FIRST)
    context.minimum_version = context.maximum_version = version
    if served:
        _, theirs = connected(serving, context)
        assert theirs.session.version() == version.name.replace("_", ".")
    else:
        with pytest.raises(ssl.SSLError):
            connected(serving, context)


def test_with_a_client_authority_only_its_clients_get_in() -> None:
    serving = ServingCertificate(client_authority=SECOND.pair.certificate)
    serving.use(identity(FIRST), NOW)
    known = SECOND.issue(Subject(name="kube-apiserver"), NOW)
    connected(serving, client(FIRST, known))
    stranger = FIRST.issue(Subject(name="kube-apiserver"), NOW)
    for pair in (None, stranger):
        with pytest.raises(ssl.SSLError):
            connected(serving, client(FIRST, pair))


def test_readiness_says_what_is_wrong_with_the_certificate() -> None:
    serving = ServingCertificate()
    assert serving.flaw(NOW) == "there is no certificate yet"
    serving.use(identity(FIRST, trusted=SECOND), NOW)
    assert "chains to no authority" in serving.flaw(NOW)
    serving.use(identity(FIRST), NOW)
    assert serving.flaw(NOW) == ""
    assert "expired" in serving.flaw(NOW + timedelta(days=91))


def encrypted(pair: Pair) -> Pair:
    key = serialization.load_pem_private_key(pair.key, None)
    return Pair(
        pair.certificate,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        ),
    )


LEAF = a_leaf(FIRST, now=NOW)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        pytest.param(
            Identity(Pair(LEAF.certificate, a_leaf(FIRST, now=NOW).key)),
            "cannot be loaded together",
            id="the key of another certificate",
        ),
        pytest.param(
            Identity(Pair(LEAF.certificate, b"")), "cannot be loaded together", id="no key"
        ),
        pytest.param(
            Identity(encrypted(LEAF)), "cannot be loaded together", id="a key with a password"
        ),
        pytest.param(Identity(Pair(b"junk", LEAF.key)), "no PEM", id="no certificate"),
        pytest.param(
            identity(SECOND, trusted=FIRST),
            "the one before it is served on",
            id="one that nobody trusts",
        ),
        pytest.param(
            Identity(a_leaf(FIRST, now=NOW - timedelta(days=200))),
            "expired",
            id="one that has expired",
        ),
    ],
)
def test_a_bad_one_leaves_the_one_before_it_in_place(bad: Identity, said: str) -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST), NOW)
    with pytest.raises(Unusable, match=said):
        serving.use(bad, NOW)
    assert serving.flaw(NOW) == ""
    connected(serving, client(FIRST))


def test_a_flawed_one_is_better_than_none_and_than_another_flawed_one() -> None:
    serving = ServingCertificate()
    serving.use(identity(FIRST, trusted=SECOND), NOW)
    serving.use(identity(SECOND, trusted=FIRST), NOW)
    connected(serving, client(SECOND))
