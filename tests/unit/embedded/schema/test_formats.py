# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.embedded.schema import formats, patterns
from trellis.embedded.schema.fieldpath import InvalidPath, walk
from trellis.embedded.schema.node import structural

GOOD_AND_BAD = {
    "byte": ("aGk=", "aGk", "not base64!"),
    "cidr": ("10.0.0.0/8", "10.0.0.0", "10.0.0.0/33", "::/129"),
    "date": ("2001-02-28", "2001-02-30", "2001-2-3"),
    "date-time": ("2001-02-03T04:05:06.5+01:00", "2001-02-03", "now", "2001-02-03T24:05:06Z"),
    "duration": ("1h30m", "1x", "5"),
    "email": ("a@example.com", "a", "@"),
    "hostname": ("a.example.com", "a_b!", "x" * 300),
    "ipv4": ("10.0.0.1", "10.0.0.256", "::1"),
    "ipv6": ("::1", "10.0.0.1"),
    "k8s-long-name": ("long.name", "Not_long"),
    "k8s-short-name": ("short-name", "Not_short", "a.b"),
    "mac": ("00:11:22:33:44:55", "00:11"),
    "uri": ("https://example.com/a", "a b", "a"),
    "uuid": ("00000000-1111-4222-8333-444444444444", "00000000"),
    "uuid4": ("00000000-1111-4222-8333-444444444444", "00000000-1111-3222-8333-444444444444"),
}


@pytest.mark.parametrize("name", GOOD_AND_BAD)
def test_a_format_is_checked(name: str) -> None:
    check = formats.check_of(name)
    assert check is not None
    good, *bad = GOOD_AND_BAD[name]
    assert check(good)
    assert not any(map(check, bad))


@pytest.mark.parametrize("text", ["5 days", "P1D", "-1.5h", "22 ns"])
def test_durations_come_in_several_dialects(text: str) -> None:
    check = formats.check_of("duration")
    assert check is not None
    assert check(text)


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        ("string", "date-time", True),
        ("", "ipv4", True),
        ("string", "poem", False),
        ("integer", "int32", True),
        ("integer", "float", False),
        ("number", "double", True),
        ("object", "date", False),
    ],
)
def test_a_format_belongs_to_a_type(kind: str, name: str, known: bool) -> None:
    assert formats.known(kind, name) is known


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing closing ): `(`"),
        ("[a", "missing closing ]: `[a`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("^[a-z]+$", None),
    ],
)
def test_a_pattern_is_refused_in_goes_words(pattern: str, why: str | None) -> None:
    assert patterns.problem(pattern) == (why and f"error parsing regexp: {why}")


def test_a_pattern_that_would_be_slow_elsewhere_is_not() -> None:
    assert not patterns.searcher("^(a+)+$")("a" * 50_000 + "b")


NODE = structural(
    {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "string"}}},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}},
            "l": {"type": "array", "items": {"type": "string"}},
        },
    }
)


@pytest.mark.parametrize(
    ("path", "written", "kind"),
    [(".a.b", "a.b", "string"), (".m['x.y']", "m[x.y]", "integer"), (".m.x", "m[x]", "integer")],
)
def test_a_path_leads_to_a_field(path: str, written: str, kind: str) -> None:
    found, node = walk(NODE, path)
    assert (found, node.type) == (written, kind)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a", "expected [ or . but got: a"),
        (".x", "does not refer to a valid field"),
        (".a.b.c", "does not refer to a valid field"),
        (".l[0]", "expected single quoted string but got 0"),
        (".m['x'", "unexpected end of JSON path"),
        (".", "unexpected end of JSON path"),
        (".m['\\q']", "invalid string literal: invalid escape char \\q"),
    ],
)
def test_a_path_that_leads_nowhere_says_why(path: str, why: str) -> None:
    with pytest.raises(InvalidPath) as refused:
        walk(NODE, path)
    assert str(refused.value) == why
