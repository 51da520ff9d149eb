# SPDX-License-Identifier: Apache-2.0
"""The grammars of names, label keys and label values, as the API server has them.

Each function answers with what is wrong, in words that can follow the value, or with None. Input is
anybody's: lengths are checked before patterns, and every pattern is ASCII and matches the whole.
"""

from __future__ import annotations

import re

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAME_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def dns_label_problem(text: str) -> str | None:
    """A name of one part: what a host name, a Service and a label value can all carry."""
    if problem := _length_problem(text, LABEL_LIMIT):
        return problem
    if "." in text:
        return "has a dot, and the names made from it (hosts, Services) may have none"
    if not _DNS_LABEL.fullmatch(text):
        return "must be lower-case letters, digits and '-', with a letter or digit at both ends"
    return None


def dns_subdomain_problem(text: str) -> str | None:
    """A name of parts with dots between: what most objects may be called."""
    if problem := _length_problem(text, SUBDOMAIN_LIMIT):
        return problem
    if not all(_DNS_LABEL.fullmatch(part) for part in text.split(".")):
        return (
            "must be lower-case letters, digits, '-' and '.', "
            "with a letter or digit at both ends of every part"
        )
    return None


def label_key_problem(text: str) -> str | None:
    """A key of a label or an annotation: a name, with an optional DNS prefix and a slash before."""
    prefix, slash, name = text.rpartition("/")
    if slash and (problem := dns_subdomain_problem(prefix)):
        return f"has a prefix that {problem}"
    if problem := _length_problem(name, LABEL_LIMIT):
        return f"has a name part that {problem}" if slash else problem
    if not _NAME_PART.fullmatch(name):
        return "must be letters, digits, '-', '_' and '.', with a letter or digit at both ends"
    return None


def label_value_problem(text: str) -> str | None:
    """A value of a label, which may be empty."""
    if not text:
        return None
    if problem := _length_problem(text, LABEL_LIMIT):
        return problem
    if not _NAME_PART.fullmatch(text):
        return "must be letters, digits, '-', '_' and '.', with a letter or digit at both ends"
    return None


def _length_problem(text: str, limit: int) -> str | None:
    if not text:
        return "is empty"
    if len(text) > limit:
        return f"has {len(text)} characters, {len(text) - limit} more than the {limit} allowed"
    return None
