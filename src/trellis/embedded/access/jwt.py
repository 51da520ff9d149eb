# SPDX-License-Identifier: Apache-2.0
"""Signed tokens (RFC 7519) as the API server writes them: one key, ES256 or RS256.

It knows nothing of what the claims mean, and never tells why a signature is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)
_LENGTH_LIMIT = 16_384
_COORDINATE = 32
# Base64, JSON or the signature; JSON that is nested too deep; a header that is no object.
_MALFORMED = (InvalidSignature, ValueError, msgspec.DecodeError, RecursionError, AttributeError)

Claims = dict[str, Any]


class NotOurs(ValueError):
    """The token is no JWT that this key signed."""


class SigningKey:
    """The key that makes and checks the tokens of one cluster."""

    def __init__(self, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
        self._key = key
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = _encoded(hashlib.sha256(public).digest())
        self.algorithm = "ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "RS256"
        self._header = _encoded(
            msgspec.json.encode({"alg": self.algorithm, "kid": self.id})
        ).encode()

    def __repr__(self) -> str:
        return f"SigningKey({self.id})"

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def load(cls, pem: bytes) -> SigningKey:
        key = load_pem_private_key(pem, password=None)
        fits = isinstance(key, rsa.RSAPrivateKey) or (
            isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1)
        )
        if not fits:
            raise ValueError("the key of service accounts must be RSA or of the curve P-256")
        return cls(key)  # type: ignore[arg-type]

    @property
    def pem(self) -> bytes:
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, claims: Claims) -> str:
        signed = self._header + b"." + _encoded(msgspec.json.encode(claims)).encode()
        return f"{signed.decode()}.{_encoded(self._signature(signed))}"

    def verify(self, token: str) -> Claims:
        """The claims of a token that this key signed; raises `NotOurs` for any other."""
        if len(token) > _LENGTH_LIMIT or not _SHAPE.fullmatch(token):
            raise NotOurs
        signed, _, signature = token.rpartition(".")
        try:
            header = msgspec.json.decode(_decoded(signed.partition(".")[0]))
            if header.get("alg") != self.algorithm:
                raise NotOurs
            self._check(_decoded(signature), signed.encode())
            claims = msgspec.json.decode(_decoded(signed.partition(".")[2]))
        except _MALFORMED:
            raise NotOurs from None
        if not isinstance(claims, dict):
            raise NotOurs
        return claims

    def _signature(self, signed: bytes) -> bytes:
        if isinstance(self._key, rsa.RSAPrivateKey):
            return self._key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        r, s = decode_dss_signature(self._key.sign(signed, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(_COORDINATE, "big") + s.to_bytes(_COORDINATE, "big")

    def _check(self, signature: bytes, signed: bytes) -> None:
        if isinstance(self._key, rsa.RSAPrivateKey):
            public = self._key.public_key()
            public.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
            return
        if len(signature) != 2 * _COORDINATE:
            raise NotOurs
        r = int.from_bytes(signature[:_COORDINATE], "big")
        s = int.from_bytes(signature[_COORDINATE:], "big")
        der = encode_dss_signature(r, s)
        self._key.public_key().verify(der, signed, ec.ECDSA(hashes.SHA256()))


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
