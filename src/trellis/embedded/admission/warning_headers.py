# SPDX-License-Identifier: Apache-2.0
"""Warnings as headers of an answer: each once, and not too much of them altogether. Pure."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOTAL = 4096
_EACH = 256


def warning_headers(texts: Iterable[str]) -> list[str]:
    """Values of `Warning` headers. Beyond a total length all are cut, and later ones left out."""
    wanted = list(dict.fromkeys(text for text in texts if text))
    whole = [text for text in wanted if _printable(text)]
    if sum(map(len, whole)) <= _TOTAL:
        return [_header(text) for text in whole]
    headers: list[str] = []
    written = 0
    for text in whole:
        if written >= _TOTAL:
            break
        headers.append(_header(text[:_EACH]))
        written += min(len(text), _EACH)
    return headers


def _header(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{quoted}"'


def _printable(text: str) -> bool:
    return not any(unicodedata.category(letter) == "Cc" for letter in text)
