# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trellis.api.core.node import Taint
from trellis.embedded.scheduling.matching import names_meant, node_matcher, tolerates
from trellis.embedded.scheduling.pods import NodeSelector, Toleration

LABELS = {"gen": "7", "zone": "z1", "word": "seven"}


def selector(*terms: dict[str, Any]) -> NodeSelector:
    return msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def name_is(*names: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param([expression("zone", "In", "z1", "z2")], True, id="in-one-of-the-values"),
        pytest.param([expression("rack", "In", "r1")], False, id="in-of-an-absent-label"),
        pytest.param([expression("zone", "NotIn", "z1")], False, id="not-in-its-own-value"),
        pytest.param([expression("rack", "NotIn", "r1")], True, id="not-in-of-an-absent-label"),
        pytest.param([expression("zone", "Exists")], True, id="exists"),
        pytest.param([expression("rack", "Exists")], False, id="does-not-exist-though-it-should"),
        pytest.param([expression("rack", "DoesNotExist")], True, id="absent-as-wanted"),
        pytest.param([expression("gen", "Gt", "6")], True, id="greater"),
        pytest.param([expression("gen", "Gt", "7")], False, id="equal-is-not-greater"),
        pytest.param([expression("gen", "Lt", "8")], True, id="less"),
        pytest.param([expression("word", "Gt", "6")], False, id="a-word-is-no-number"),
        pytest.param([expression("rack", "Lt", "6")], False, id="an-absent-label-is-no-number"),
        pytest.param([expression("gen", "Gt", "-1")], True, id="negative-bound"),
        pytest.param([name_is("a")], True, id="by-name"),
        pytest.param([name_is("b")], False, id="by-another-name"),
        pytest.param([{}], False, id="an-empty-term-means-nothing"),
        pytest.param([], False, id="no-terms-mean-nothing"),
        pytest.param([{}, name_is("a")], True, id="one-term-of-several"),
        pytest.param([name_is("a") | expression("zone", "In", "z9")], False, id="all-of-a-term"),
    ],
)
def test_a_node_selector_means(terms: list[dict[str, Any]], expected: bool) -> None:
    assert node_matcher(selector(*terms))("a", LABELS) is expected


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        pytest.param([name_is("a", "b")], {"a", "b"}, id="names"),
        pytest.param([name_is("a"), name_is("c")], {"a", "c"}, id="of-all-terms"),
        pytest.param([name_is("a"), expression("zone", "Exists")], None, id="a-term-without-names"),
    ],
)
def test_names_are_found_only_if_every_term_has_some(terms: Any, names: set[str] | None) -> None:
    assert names_meant(selector(*terms)) == names


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param({"operator": "Exists"}, True, id="everything"),
        pytest.param({"key": "k", "operator": "Exists"}, True, id="any-value-of-the-key"),
        pytest.param({"key": "k", "value": "v"}, True, id="equal-by-default"),
        pytest.param({"key": "k", "value": "w"}, False, id="another-value"),
        pytest.param({"key": "j", "operator": "Exists"}, False, id="another-key"),
        pytest.param({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False, id="effect"),
        pytest.param({"key": "k", "operator": "Odd"}, False, id="unknown-operator"),
    ],
)
def test_a_toleration_bears(toleration: dict[str, str], expected: bool) -> None:
    taint = Taint(key="k", value="v", effect="NoSchedule")
    assert tolerates(msgspec.convert(toleration, Toleration), taint) is expected
