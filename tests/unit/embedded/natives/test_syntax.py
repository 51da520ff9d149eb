# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.natives import syntax

Grammar = Callable[[str], tuple[str, ...]]


@pytest.mark.parametrize(
    ("grammar", "good"),
    [
        pytest.param(syntax.dns_label, ["a", "a-b", "0", "x" * 63], id="label"),
        pytest.param(syntax.dns_subdomain, ["a.b", "a" * 253], id="subdomain"),
        pytest.param(syntax.dns1035_label, ["a1", "a-1"], id="old label"),
        pytest.param(syntax.label_key, ["a", "a/b", "A_b.c", f"e.com/{'x' * 63}"], id="key"),
        pytest.param(syntax.label_value, ["", "a", "A.b_c-d"], id="value"),
        pytest.param(syntax.config_key, ["a.b", ".a", "A-_"], id="key of a config map"),
        pytest.param(syntax.path_segment, ["a:b", "A B", ""], id="part of a path"),
        pytest.param(syntax.environment_name, ["A", "a.b", "1", "a b"], id="variable"),
        pytest.param(syntax.port_name, ["web", "a-1", "x" * 15], id="port"),
        pytest.param(syntax.percent, ["1%", "100%"], id="percent"),
        pytest.param(syntax.cidr, ["10.0.0.0/8", "10.0.0.1/32", "fe80::/10"], id="range"),
        pytest.param(syntax.ip_address, ["10.0.0.1", "::1"], id="address"),
        pytest.param(syntax.wildcard_subdomain, ["*.a.b"], id="wildcard"),
        pytest.param(syntax.c_identifier, ["_a", "a1"], id="identifier"),
    ],
)
def test_good_names_have_no_problems(grammar: Grammar, good: list[str]) -> None:
    assert [grammar(text) for text in good] == [()] * len(good)


@pytest.mark.parametrize(
    ("grammar", "text", "said"),
    [
        pytest.param(syntax.dns_label, "a.b", ["must not contain dots"], id="dots"),
        pytest.param(
            syntax.dns_label, "x" * 64, ["must be no more than 63 characters"], id="long label"
        ),
        pytest.param(
            syntax.label_value, "x" * 64, ["must be no more than 63 bytes"], id="long value"
        ),
        pytest.param(
            syntax.label_key,
            "/a",
            ["prefix part must be non-empty"],
            id="no prefix",
        ),
        pytest.param(
            syntax.label_key,
            f"{'a' * 254}/b",
            ["prefix part must be no more than 253 bytes"],
            id="prefix",
        ),
        pytest.param(syntax.config_key, "..", ["must not be '..'"], id="parent"),
        pytest.param(syntax.config_key, "..a", ["must not start with '..'"], id="hidden"),
        pytest.param(
            syntax.path_segment, "a/b%", ["may not contain '/'", "may not contain '%'"], id="path"
        ),
        pytest.param(
            syntax.port_name,
            "-1--",
            [
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
            id="port",
        ),
    ],
)
def test_bad_names_are_told_what_is_wrong(grammar: Grammar, text: str, said: list[str]) -> None:
    assert list(grammar(text)) == said


def test_a_pattern_is_shown_with_examples() -> None:
    assert syntax.dns_label("A") == (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
        "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    )


@pytest.mark.parametrize("text", ["a\n", "a\x00", "ä", "a b", " "])
def test_no_name_holds_what_is_not_ascii_or_ends_a_line(text: str) -> None:
    for grammar in (syntax.dns_label, syntax.dns_subdomain, syntax.label_key, syntax.label_value):
        assert grammar(text)


@given(st.text(max_size=80))
def test_a_label_is_a_subdomain_without_dots(text: str) -> None:
    if not syntax.dns_label(text):
        assert not syntax.dns_subdomain(text)
        assert re.fullmatch(r"[a-z0-9-]{1,63}", text)


@given(st.text(alphabet="aZ0-_./", max_size=70))
def test_what_is_a_key_without_a_prefix_is_a_value(text: str) -> None:
    if "/" not in text and text:
        assert bool(syntax.label_key(text)) == bool(syntax.label_value(text))
