# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.access.jwt import NotOurs, SigningKey

ELLIPTIC = SigningKey.generate()
RSA = SigningKey(rsa.generate_private_key(public_exponent=65537, key_size=2048))


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("key", [ELLIPTIC, RSA], ids=["ES256", "RS256"])
def test_a_key_reads_what_it_signed_also_after_it_was_saved(key: SigningKey) -> None:
    token = key.sign({"sub": "me", "n": 1})
    again = SigningKey.load(key.pem)
    assert again.verify(token) == {"sub": "me", "n": 1}
    assert again.id == key.id
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    assert header == {"alg": key.algorithm, "kid": key.id}


@pytest.mark.parametrize("key", [ELLIPTIC, RSA], ids=["ES256", "RS256"])
def test_another_keys_token_is_not_ours(key: SigningKey) -> None:
    with pytest.raises(NotOurs):
        key.verify(SigningKey.generate().sign({"sub": "me"}))


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        "a.b",
        "...",
        "%.%.%",
        f"{part({'alg': 'none'})}.{part({'sub': 'me'})}.",
        f"{part({'alg': 'none'})}.{part({'sub': 'me'})}.AAAA",
        f"{part({'alg': 'ES256'})}.{part({'sub': 'me'})}.{'A' * 86}",
        f"{part([1])}.{part({'sub': 'me'})}.AAAA",
        "x" * 20_000,
    ],
    ids=["empty", "short", "two", "dots", "signs", "none", "none+", "zero", "list", "long"],
)
def test_what_is_no_token_is_not_ours(token: str) -> None:
    with pytest.raises(NotOurs):
        ELLIPTIC.verify(token)


@given(st.data())
def test_a_token_with_one_letter_changed_is_not_ours(data: st.DataObject) -> None:
    token = ELLIPTIC.sign({"sub": "me"})
    # The last letter holds spare bits: another one may mean the same signature.
    place = data.draw(st.integers(0, len(token) - 2))
    letter = data.draw(st.sampled_from("ABCabc019_-."))
    changed = token[:place] + letter + token[place + 1 :]
    if changed != token:
        with pytest.raises(NotOurs):
            ELLIPTIC.verify(changed)


def test_a_key_does_not_show_itself() -> None:
    assert "PRIVATE" not in repr(ELLIPTIC)


def test_a_key_of_another_curve_is_refused() -> None:
    pem = (
        b"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9E"
        b"dVhC\n-----END PRIVATE KEY-----\n"
    )
    with pytest.raises(ValueError, match="P-256"):
        SigningKey.load(pem)
