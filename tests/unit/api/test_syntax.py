# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.api.syntax import (
    dns_label_problem,
    dns_subdomain_problem,
    label_key_problem,
    label_value_problem,
)

TRAPS = [
    pytest.param("a\n", id="a newline at the end"),
    pytest.param("\u0661\u0662", id="digits that are not ASCII"),
    pytest.param("\u00e9", id="a letter that is not ASCII"),
    pytest.param("a b", id="a space"),
    pytest.param("a\0b", id="a NUL"),
    pytest.param("-a", id="a dash first"),
    pytest.param("a-", id="a dash last"),
    pytest.param("a/b/c", id="two slashes"),
    pytest.param("x" * 1_000_000, id="a million characters"),
]


@pytest.mark.parametrize("text", TRAPS)
def test_what_only_looks_like_a_name_is_refused_everywhere(text: str) -> None:
    for problem in (
        dns_label_problem,
        dns_subdomain_problem,
        label_key_problem,
        label_value_problem,
    ):
        assert problem(text)


@pytest.mark.parametrize("text", ["a", "0", "a-0", "x" * 63])
def test_dns_labels(text: str) -> None:
    assert dns_label_problem(text) is None


def test_a_dns_label_says_what_is_wrong() -> None:
    assert dns_label_problem("") == "is empty"
    assert dns_label_problem("a.b") is not None
    assert "dot" in str(dns_label_problem("a.b"))
    assert "1 more than the 63 allowed" in str(dns_label_problem("x" * 64))
    assert "lower-case" in str(dns_label_problem("A"))


@pytest.mark.parametrize("text", ["a.b", "a", ".".join(["x" * 63] * 3 + ["x" * 61])])
def test_dns_subdomains(text: str) -> None:
    assert dns_subdomain_problem(text) is None


@pytest.mark.parametrize("text", ["a..b", ".a", "a.", "A.b"])
def test_a_subdomain_has_a_name_between_its_dots(text: str) -> None:
    assert dns_subdomain_problem(text)


@pytest.mark.parametrize(
    "text",
    [
        "app",
        "kubernetes.io/hostname",
        "example.com/Under_Score.dot-Dash",
        f"{'.'.join(['x' * 63] * 3 + ['x' * 61])}/{'y' * 63}",
    ],
)
def test_label_keys_may_be_long(text: str) -> None:
    assert label_key_problem(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [("/a", "prefix"), ("Example.com/a", "prefix"), ("a/", "name part"), ("", "empty")],
)
def test_a_label_key_says_which_part_is_wrong(text: str, word: str) -> None:
    assert word in str(label_key_problem(text))


@pytest.mark.parametrize("text", ["", "a", "v1-abc", "A_b.c-9"])
def test_label_values(text: str) -> None:
    assert label_value_problem(text) is None
