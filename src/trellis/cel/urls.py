# SPDX-License-Identifier: Apache-2.0
"""URLs, as Go's net/url reads them: absolute, or an absolute path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote

from trellis.cel.overloads import Library, traversal
from trellis.cel.problems import EvaluationProblem

URLS = Library()
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_BAD_HOST = re.compile(r"[ \"#/?@\\^`{|}<]")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_PORT = re.compile(r"(?::[0-9]*)?")
_SAFE_PATH = "/!$&'()*+,;=:@-._~"
_PAIR_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class URL:
    text: str
    scheme: str
    host: str
    """With the port."""
    path: str
    query: str
    type_name = "kubernetes.URL"

    @property
    def hostname(self) -> str:
        return (
            self.host.rpartition(self.port_text)[0].strip("[]")
            if self.port_text
            else self.host.strip("[]")
        )

    @property
    def port_text(self) -> str:
        found = re.search(r":[0-9]*$", self.host)
        return found[0] if found else ""


@lru_cache(maxsize=1024)
def read_url(text: str) -> URL:
    """Raises ValueError with Go's words for what is wrong."""
    _check_characters(text)
    scheme, rest = _scheme(text)
    rest, _, fragment = rest.partition("#")
    _check_escapes(fragment)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(text, scheme, "", "", query)
        raise ValueError("invalid URI for request")
    host = ""
    if scheme and rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        host = _host(host)
        rest = slash + path
    _check_escapes(rest)
    return URL(text, scheme, host, rest, query)


def _check_characters(text: str) -> None:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise ValueError("net/url: invalid control character in URL")
    if not text:
        raise ValueError("empty url")


def _scheme(text: str) -> tuple[str, str]:
    found = _SCHEME.fullmatch(text)
    if found:
        return found[1].lower(), found[2]
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    return "", text


def _check_escapes(text: str) -> None:
    found = _BAD_ESCAPE.search(text)
    if found:
        raise ValueError(f'invalid URL escape "{found[0]}"')


def _host(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise ValueError("net/url: invalid userinfo")
    _check_escapes(host)
    if host.startswith("["):
        bracket = host.rfind("]")
        if bracket < 0:
            raise ValueError("missing ']' in host")
        port = host[bracket + 1 :]
    else:
        port = host[host.rfind(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port):
        raise ValueError(f'invalid port "{port}" after host')
    bad = _BAD_HOST.search(host)
    if bad:
        raise ValueError(f'invalid character "{bad[0]}" in host name')
    return unquote(host)


def problem_of_url(text: str) -> str | None:
    try:
        read_url(text)
    except ValueError as refused:
        return f'parse "{text}": {refused}'
    return None


def _to_url(text: str) -> URL:
    problem = problem_of_url(text)
    if problem:
        raise EvaluationProblem(f"URL parse error during conversion from string: {problem}")
    return read_url(text)


def _escaped_path(url: URL) -> str:
    return quote(unquote(url.path), safe=_SAFE_PATH) if "%" not in url.path else url.path


def _query(url: URL) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    pairs = "&".join(part for part in url.query.split("&") if ";" not in part)
    for key, value in parse_qsl(pairs, keep_blank_values=True, max_num_fields=_PAIR_LIMIT):
        found.setdefault(key, []).append(value)
    return found


URLS.function("url", "string -> URL", _to_url, traversal)
URLS.function("isURL", "string -> bool", lambda text: problem_of_url(text) is None, traversal)
URLS.member("getScheme", "URL -> string", lambda url: url.scheme)
URLS.member("getHost", "URL -> string", lambda url: url.host)
URLS.member("getHostname", "URL -> string", lambda url: url.hostname)
URLS.member("getPort", "URL -> string", lambda url: url.port_text[1:])
URLS.member("getEscapedPath", "URL -> string", _escaped_path)
URLS.member("getQuery", "URL -> map<string, list<string>>", _query)
