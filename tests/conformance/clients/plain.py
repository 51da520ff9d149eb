# SPDX-License-Identifier: Apache-2.0
"""What a client printed, without what must differ between two runs: ids, times, ages, versions."""

from __future__ import annotations

import re
from typing import Any

_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
_HASH = "[bcdf456789]{4,10}|[bcdfghjklmnpqrstvwxz2456789]{4,10}"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), shown)
    for pattern, shown in (
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uid>"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (r"\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
        (r"https://127\.0\.0\.1:\d+", "<server>"),
        (r"\b127\.64\.\d+\.\d+\b|\b10\.\d+\.\d+\.\d+\b", "<address>"),
        (r"(\bkube-api-access-)" + _SUFFIX, r"\1<random>"),
        (rf"\b((?:web|job|cron)-)(?:{_HASH})-{_SUFFIX}\b", r"\1<hash>-<random>"),
        (rf"\b((?:web|once|tick|gen)-){_SUFFIX}\b", r"\1<random>"),
        (r"\b(web-)[bcdf456789]{8,10}\b", r"\1<hash>"),
        (r"(pod-template-hash[=:] ?\"?)[a-z0-9]{8,10}", r"\1<hash>"),
        (r"(resourceVersion[\\\"]*: ?[\\\"]*|Resource Version: +)\d+", r"\1<version>"),
        (r"\b(NodePort:.*|80:)3\d{4}\b", r"\1<port>"),
        (r"(?<=[ (])(?:\d+[smhd]){1,2}(?=\)|\s|$)", "<age>"),
        (r"<invalid>|<unknown>(?= *$)", "<age>"),
        (r"\b(LIVE|MERGED)-\d+/", r"\1/"),
        (r"\beyJ[\w-]+\.[\w-]+\.[\w-]+", "<token>"),
        (r"^(---|\+\+\+) (\S+)\t.*$", r"\1 \2"),
        (r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "<log> "),
    )
)


# Kinds that another story defined meanwhile.
_FOREIGN = re.compile(r"q[0-9a-f]{10}\.example\.com/v1")

_CAUSE = re.compile(r"\* \S+: ")


def plain(text: str, names: dict[str, str]) -> list[str]:
    """The lines. Columns are two spaces apart: their width follows what was hidden.

    Causes of a refusal come in the order of a Go map, thus sorted here.
    """
    for name, shown in names.items():
        text = text.replace(name, shown)
    for pattern, shown in _PATTERNS:
        text = pattern.sub(shown, text)
    lines = [re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in text.splitlines()]
    causes = iter(sorted(line for line in lines if _CAUSE.match(line)))
    ordered = [next(causes) if _CAUSE.match(line) else line for line in lines]
    return [line for line in ordered if not _FOREIGN.fullmatch(line)]


def plain_value(value: Any, names: dict[str, str]) -> Any:
    """The same in all that a value holds."""
    if isinstance(value, dict):
        return {key: plain_value(inner, names) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [plain_value(inner, names) for inner in value]
    return "\n".join(plain(value, names)) if isinstance(value, str) else value
