# SPDX-License-Identifier: Apache-2.0
"""What looks random and is not: drawn from the seed and a name, never from who came first. Pure."""

from __future__ import annotations

from hashlib import blake2b

_SCALE = float(1 << 64)


def fraction(seed: int, *words: str) -> float:
    """A number from 0 up to 1, always the same for the same words."""
    return int.from_bytes(_digest(seed, words, 8)) / _SCALE


def uuid(seed: int, *words: str) -> str:
    """Written like a UUID; the same for the same words."""
    text = _digest(seed, words, 16).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def jittered(seconds: float, share: float, drawn: float) -> float:
    """The seconds, off by at most that share of them, to either side."""
    return seconds * (1 + share * (2 * drawn - 1))


def digest(*words: str) -> str:
    """64 digits of hex, as images and containers are called by."""
    return blake2b("\0".join(words).encode(), digest_size=32).hexdigest()


def _digest(seed: int, words: tuple[str, ...], size: int) -> bytes:
    return blake2b("\0".join((str(seed), *words)).encode(), digest_size=size).digest()
