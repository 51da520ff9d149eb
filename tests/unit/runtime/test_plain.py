# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import field

from trellis.api.meta import Time, Value, always
from trellis.runtime.plain import plain


class Inner(Value, frozen=True, kw_only=True):
    long_name: str = "a default that is no single letter"


class Outer(Value, frozen=True, kw_only=True):
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()
    maybe: Inner | None = None
    count: int = always(0)
    big: int = 1000
    amounts: dict[str, str] = field(default_factory=dict)
    at: Time | None = None
    raw: msgspec.Raw = msgspec.Raw()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(Outer(), {"count": 0}, id="what is always said"),
        pytest.param(Outer(inner=Inner(long_name="x")), {"inner": {"longName": "x"}}, id="inner"),
        pytest.param(Outer(many=(Inner(),)), {"many": [{}]}, id="a list of defaults"),
        pytest.param(Outer(maybe=Inner()), {"maybe": {}}, id="an optional struct"),
        pytest.param(Outer(amounts={"a": "1"}), {"amounts": {"a": "1"}}, id="a dict"),
        pytest.param(
            Outer(at=datetime(2026, 1, 2, tzinfo=UTC)), {"at": "2026-01-02T00:00:00Z"}, id="a time"
        ),
        pytest.param(Outer(raw=msgspec.Raw(b'{"x": [1]}')), {"raw": {"x": [1]}}, id="a raw part"),
    ],
)
def test_plain(value: Outer, shown: dict[str, Any]) -> None:
    assert plain(value) == {"count": 0} | shown


@given(
    st.builds(
        Outer,
        inner=st.builds(Inner, long_name=st.text()),
        many=st.tuples() | st.tuples(st.builds(Inner, long_name=st.text())),
        count=st.integers(0, 3),
        big=st.sampled_from([999, 1000]),
        amounts=st.dictionaries(st.text(), st.text()),
    )
)
def test_what_was_read_is_as_plain_as_what_was_built(built: Outer) -> None:
    read = msgspec.json.decode(msgspec.json.encode(built), type=Outer)
    spelled_out = msgspec.json.decode(
        msgspec.json.encode(
            {"big": built.big, "inner": {"longName": built.inner.long_name}}
            | msgspec.json.decode(msgspec.json.encode(built))
        ),
        type=Outer,
    )
    assert plain(read) == plain(built) == plain(spelled_out)
