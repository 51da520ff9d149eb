# SPDX-License-Identifier: Apache-2.0
"""Named formats of strings: `format.dns1123Label().validate(text)`."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from trellis.cel.overloads import Library
from trellis.cel.times import read_date, read_timestamp
from trellis.cel.urls import problem_of_url
from trellis.cel.values import NOTHING, Optional, some

FORMATS = Library()
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")

Validate = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    validate: Validate
    weight: int
    """How long the regular expression is that the server would use."""
    type_name = "kubernetes.NamedFormat"


def _told(text: str, shown: str, *examples: str) -> str:
    said = f"{text} (e.g. "
    said += ",  or ".join(f"'{example}'" for example in examples)
    return f"{said}, regex used for validation is '{shown}')"


def _too_long(text: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} bytes"] if len(text.encode()) > limit else []


def _label(text: str) -> list[str]:
    problems = _too_long(text, 63)
    if re.fullmatch(_LABEL, text):
        return problems
    if re.fullmatch(_SUBDOMAIN, text):
        return [*problems, "must not contain dots"]
    what = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    what += "and must start and end with an alphanumeric character"
    return [*problems, _told(what, _LABEL, "my-name", "123-abc")]


def _subdomain(text: str) -> list[str]:
    problems = _too_long(text, 253)
    if len(text) <= 1024 and re.fullmatch(_SUBDOMAIN, text):
        return problems
    what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    what += "'-' or '.', and must start and end with an alphanumeric character"
    return [*problems, _told(what, _SUBDOMAIN, "example.com")]


def _label_1035(text: str) -> list[str]:
    problems = _too_long(text, 63)
    if re.fullmatch(_LABEL_1035, text):
        return problems
    what = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
    what += "an alphabetic character, and end with an alphanumeric character"
    return [*problems, _told(what, _LABEL_1035, "my-name", "abc-123")]


def _qualified_name(text: str) -> list[str]:
    characters = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    characters += "with an alphanumeric character"
    told = _told(characters, _NAME, "MyName", "my.name", "123-abc")
    parts = text.split("/")
    if len(parts) > 2:
        tail = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {told} {tail}"]
    problems = []
    if len(parts) == 2:
        if not parts[0]:
            problems.append("prefix part must be non-empty")
        else:
            problems.extend(f"prefix part {problem}" for problem in _subdomain(parts[0]))
    name = parts[-1]
    if not name:
        problems.append("name part must be non-empty")
    problems.extend(f"name part {problem}" for problem in _too_long(name, 63))
    if not re.fullmatch(_NAME, name):
        problems.append(f"name part {told}")
    return problems


def _label_value(text: str) -> list[str]:
    problems = _too_long(text, 63)
    if re.fullmatch(f"({_NAME})?", text):
        return problems
    what = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
    what += "or '.', and must start and end with an alphanumeric character"
    return [*problems, _told(what, f"({_NAME})?", "MyValue", "my_value", "12345")]


def _prefix(validate: Validate) -> Validate:
    def masked(text: str) -> list[str]:
        # A dash at the end may be followed by what the server generates.
        return validate(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)

    return masked


def _uri(text: str) -> list[str]:
    problem = problem_of_url(text)
    return [problem] if problem else []


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _plain(said: str, reads: Callable[[str], object]) -> Validate:
    return lambda text: [] if reads(text) is not None else [said]


_FORMATS = {
    "dns1123Label": Format("DNS1123Label", _label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _subdomain, 60),
    "dns1035Label": Format("DNS1035Label", _label_1035, 30),
    "qualifiedName": Format("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _prefix(_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _prefix(_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _prefix(_label_1035), 30),
    "labelValue": Format("LabelValue", _label_value, 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", _plain("does not match the UUID format", _UUID.fullmatch), 73),
    "byte": Format("byte", _byte, 84),
    "date": Format("date", _plain("invalid date", read_date), 72),
    "datetime": Format("datetime", _plain("invalid datetime", read_timestamp), 72),
}


def _validate(form: Format, text: str) -> Optional:
    problems = form.validate(text)
    return some(problems) if problems else NOTHING


def _cost(form: Format, text: str) -> int:
    return ((len(text) + 10) // 10) * ((form.weight + 3) // 4)


def _named(name: str) -> Optional:
    return some(_FORMATS[name]) if name in _FORMATS else NOTHING


FORMATS.member("validate", "Format, string -> optional<list<string>>", _validate, _cost)
FORMATS.function("format.named", "string -> optional<Format>", _named)
for _name, _format in _FORMATS.items():
    FORMATS.function(f"format.{_name}", "-> Format", lambda form=_format: form)
