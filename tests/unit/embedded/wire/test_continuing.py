# SPDX-License-Identifier: Apache-2.0
"""Continue tokens, good and bad."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.wire.builders import golden, refusal
from trellis.embedded.refusals import Refusal
from trellis.embedded.wire.continuing import Continuation, continued, token

RECORDED = {
    title: (parse_qs(urlsplit(seen[0]["request"]).query)["continue"][0], seen[0]["body"])
    for title, seen in golden("list").items()
    if title.startswith("a continue token") and seen[0]["status"] == 400
}
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize("title", RECORDED)
def test_as_recorded(title: str) -> None:
    text, body = RECORDED[title]
    with pytest.raises(Refusal) as refused:
        continued(text)
    assert refused.value.message == body["message"]
    assert refused.value.code == 400


@given(st.integers(min_value=1, max_value=1 << 62), NAMES.filter(lambda name: ".." not in name))
def test_a_token_leads_back_to_where_it_was_made(version: int, name: str) -> None:
    for after in (name, f"{name}/{name}"):
        assert continued(token(version, after)) == Continuation(version, after)


def test_a_negative_version_goes_on_in_the_present() -> None:
    assert continued(token(-1, "a")).version == -1


@given(st.text(max_size=40))
def test_anybodys_text_is_refused_and_never_breaks(text: str) -> None:
    refused = refusal(lambda: continued(text))
    assert refused is None or refused.code == 400
