# SPDX-License-Identifier: Apache-2.0
"""The grammars of names, in the words of the real server: each function lists what is wrong.

Lengths and patterns are the server's own, oddities included. Good input, which nearly all of it is,
costs one cached look-up.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from trellis.embedded.fielderrors import FieldError, invalid

Grammar = Callable[[str], tuple[str, ...]]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_PERCENT = "[0-9]+%"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HEADER = "[-A-Za-z0-9]+"
_ENDS = "and must start and end with an alphanumeric character"
_SAID = {
    _LABEL: (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        + _ENDS,
        ("my-name", "123-abc"),
    ),
    _SUBDOMAIN: (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
        f"'-' or '.', {_ENDS}",
        ("example.com",),
    ),
    _LABEL_1035: (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
        "an alphabetic character, and end with an alphanumeric character",
        ("my-name", "abc-123"),
    ),
    _KEY: (
        f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}",
        ("MyName", "my.name", "123-abc"),
    ),
    f"({_KEY})?": (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
        f"or '.', {_ENDS}",
        ("MyValue", "my_value", "12345"),
    ),
    _IDENTIFIER: (
        "a valid C identifier must start with alphabetic character or '_', followed by a string "
        "of alphanumeric characters or '_'",
        ("my_name", "MY_NAME", "MyName"),
    ),
    _CONFIG_KEY: (
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        ("key.name", "KEY_NAME", "key-name"),
    ),
    _PERCENT: (
        "a valid percent string must be a numeric string followed by an ending '%'",
        ("1%", "93%"),
    ),
    _WILDCARD: (
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character",
        ("*.example.com",),
    ),
    _HEADER: (
        "a valid HTTP header must consist of alphanumeric characters or '-'",
        ("X-Header-Name",),
    ),
}
_COMPILED = {pattern: re.compile(pattern, re.ASCII) for pattern in (*_SAID, _HTTP_PATH)}
_PORT_NAME = re.compile("[-a-z0-9]+", re.ASCII)
_PRINTABLE = re.compile(r"[ -<>-~]*", re.ASCII)


def matches(pattern: str, text: str) -> bool:
    return _COMPILED[pattern].fullmatch(text) is not None


def pattern_message(pattern: str) -> str:
    said, examples = _SAID[pattern]
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{said} (e.g. {listed}regex used for validation is '{pattern}')"


def too_long(most: int, unit: str = "characters") -> str:
    return f"must be no more than {most} {unit}"


def _checked(text: str, pattern: str, most: int, unit: str = "characters") -> list[str]:
    problems = [too_long(most, unit)] if len(text.encode()) > most else []
    return problems if matches(pattern, text) else [*problems, pattern_message(pattern)]


@lru_cache(maxsize=4096)
def dns_label(text: str) -> tuple[str, ...]:
    problems = [too_long(63)] if len(text.encode()) > 63 else []
    if not matches(_LABEL, text):
        dotted = matches(_SUBDOMAIN, text)
        problems.append("must not contain dots" if dotted else pattern_message(_LABEL))
    return tuple(problems)


@lru_cache(maxsize=8192)
def dns_subdomain(text: str) -> tuple[str, ...]:
    return tuple(_checked(text, _SUBDOMAIN, 253))


@lru_cache(maxsize=1024)
def dns1035_label(text: str) -> tuple[str, ...]:
    return tuple(_checked(text, _LABEL_1035, 63))


@lru_cache(maxsize=8192)
def label_key(text: str) -> tuple[str, ...]:
    prefix, slash, name = text.partition("/")
    if "/" in name:
        return (
            f"a valid label key {pattern_message(_KEY)} with an optional DNS subdomain prefix "
            "and '/' (e.g. 'example.com/MyName')",
        )
    problems: list[str] = []
    if not slash:
        name = prefix
    elif not prefix:
        problems.append("prefix part must be non-empty")
    else:
        problems += [f"prefix part {each}" for each in _checked(prefix, _SUBDOMAIN, 253, "bytes")]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append(f"name part {too_long(63, 'bytes')}")
    if not matches(_KEY, name):
        problems.append(f"name part {pattern_message(_KEY)}")
    return tuple(problems)


@lru_cache(maxsize=8192)
def label_value(text: str) -> tuple[str, ...]:
    problems = [too_long(63, "bytes")] if len(text.encode()) > 63 else []
    if text and not matches(_KEY, text):
        problems.append(pattern_message(f"({_KEY})?"))
    return tuple(problems)


@lru_cache(maxsize=1024)
def c_identifier(text: str) -> tuple[str, ...]:
    return () if matches(_IDENTIFIER, text) else (pattern_message(_IDENTIFIER),)


def config_key(text: str) -> tuple[str, ...]:
    problems = _checked(text, _CONFIG_KEY, 253)
    if text in {".", ".."}:
        problems.append(f"must not be '{text}'")
    elif text.startswith(".."):
        problems.append("must not start with '..'")
    return tuple(problems)


def percent(text: str) -> tuple[str, ...]:
    return () if matches(_PERCENT, text) else (pattern_message(_PERCENT),)


def wildcard_subdomain(text: str) -> tuple[str, ...]:
    return tuple(_checked(text, _WILDCARD, 253))


def http_header(text: str) -> tuple[str, ...]:
    return () if matches(_HEADER, text) else (pattern_message(_HEADER),)


def is_http_path(text: str) -> bool:
    return matches(_HTTP_PATH, text)


@lru_cache(maxsize=1024)
def path_segment(text: str) -> tuple[str, ...]:
    """What every name must be at least: something that can stand in a path."""
    if text in {".", ".."}:
        return (f"may not be '{text}'",)
    return tuple(f"may not contain '{each}'" for each in ("/", "%") if each in text)


@lru_cache(maxsize=4096)
def environment_name(text: str) -> tuple[str, ...]:
    if not text:
        return ("environment variable name must be non-empty",)
    if _PRINTABLE.fullmatch(text):
        return ()
    return (
        "a valid environment variable name must consist only of printable ASCII characters "
        "other than '='",
    )


@lru_cache(maxsize=1024)
def port_name(text: str) -> tuple[str, ...]:
    problems = [too_long(15)] if len(text) > 15 else []
    if not _PORT_NAME.fullmatch(text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return tuple(problems)


def in_range(value: int, least: int, most: int) -> tuple[str, ...]:
    if least <= value <= most:
        return ()
    return (f"must be between {least} and {most}, inclusive",)


def port_number(value: int) -> tuple[str, ...]:
    return in_range(value, 1, 65535)


def is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def ip_address(text: str) -> tuple[str, ...]:
    if is_ip(text):
        return ()
    return ("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",)


def cidr(text: str) -> tuple[str, ...]:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        valid = False
    else:
        valid = "/" in text and "%" not in text and "." not in text.partition("/")[2]
    return () if valid else ("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",)


def check(grammar: Grammar, path: str, text: str) -> list[FieldError]:
    """The problems of a value at its path."""
    problems = grammar(text)
    return [invalid(path, text, problem) for problem in problems] if problems else []


def check_each(grammar: Grammar, path: str, texts: Iterable[str]) -> list[FieldError]:
    return [
        error
        for position, text in enumerate(texts)
        for error in check(grammar, f"{path}[{position}]", text)
    ]
