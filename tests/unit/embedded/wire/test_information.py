# SPDX-License-Identifier: Apache-2.0
"""Discovery, OpenAPI, version and health as answers, replayed from what was recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest

from tests.conformance.kinds import GROUP, WIDGETS
from tests.conformance.probes.discovery import AGGREGATED
from tests.unit.embedded.wire.builders import Noon, Registry, ask, customs, golden, natives
from trellis.embedded.core.route import segments
from trellis.embedded.exchange import Answer, Ask
from trellis.embedded.refusals import Refusal
from trellis.embedded.wire.information import Information

if TYPE_CHECKING:
    from collections.abc import Iterator

APPS = "/openapi/v3/apis/apps/v1"


def information() -> Information:
    return Information(Registry([*natives(), *customs()]), Noon(), "127.0.0.1:1")


def answered(asked: Ask) -> Answer:
    """What the client gets: a refusal is answered by whoever asked us."""
    try:
        return information().answer(asked, segments(asked.path))
    except Refusal as refused:
        body = json.dumps(refused.status).encode()
        headers = (("Content-Type", "application/json"), ("Cache-Control", "no-cache, private"))
        return Answer(refused.code, body, headers)


def _plain_requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """What was asked without telling what is accepted, outside of objects."""
    for area, titles in {
        "routing": ("health endpoints", "one health check", "a path that no group owns"),
        "discovery": ("what is not there", "any method reads"),
        "openapi": ("a document that is not there", "other paths"),
        "media_types": (),
    }.items():
        for title, observed in golden(area).items():
            if title.startswith(titles) and titles:
                for place, seen in enumerate(observed):
                    if not seen["request"].endswith(("/things", "/widgets")):
                        yield f"{title} ({place})", seen


PLAIN = list(_plain_requests())


@pytest.mark.parametrize("seen", [seen for _, seen in PLAIN], ids=[name for name, _ in PLAIN])
def test_an_answer_is_as_recorded(seen: dict[str, Any]) -> None:
    method, _, target = seen["request"].partition(" ")
    path, _, query = target.partition("?")
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    answer = answered(ask(path, pairs, method, accept="application/json"))
    headers = dict(answer.headers)
    assert answer.status == seen["status"]
    assert {name: headers.get(name) for name in seen["headers"]} == seen["headers"]
    assert isinstance(answer.body, bytes)
    if isinstance(seen["body"], str):
        assert answer.body.decode() == seen["body"]
    elif isinstance(seen["body"], list):
        lines = answer.body.decode().splitlines()
        assert [lines[0], lines[-1]] == seen["body"]


@pytest.mark.parametrize("path", ["/api", "/api/", "/apis", "/api/v1", "/apis/apps", "/version"])
def test_discovery_is_json(path: str) -> None:
    answer = answered(ask(path))
    assert answer.status == 200
    assert dict(answer.headers)["Content-Type"] == "application/json"


def test_aggregated_discovery_may_be_kept_and_is_304_if_it_was() -> None:
    answer = answered(ask("/apis", accept=AGGREGATED))
    headers = dict(answer.headers)
    assert headers["Cache-Control"] == "public"
    assert headers["Vary"] == "Accept"
    assert headers["Content-Type"] == AGGREGATED
    again = answered(ask("/apis", accept=AGGREGATED, if_none_match=headers["ETag"]))
    assert (again.status, again.body) == (304, b"")


def test_discovery_follows_definitions() -> None:
    registry = Registry(natives())
    found = Information(registry, Noon(), "")
    path = ["apis", GROUP]
    assert found.answer(ask(f"/apis/{GROUP}"), path).status == 404
    registry.extend(customs())
    registry.epoch += 1
    assert found.answer(ask(f"/apis/{GROUP}"), path).status == 200
    assert found.answer(ask(f"/openapi/v3/apis/{WIDGETS}"), ["openapi", "v3"]).status == 200


def test_a_document_with_its_hash_is_kept_for_a_year() -> None:
    plain = dict(answered(ask(APPS)).headers)
    found = plain["ETag"].strip('"')
    kept = dict(answered(ask(APPS, {"hash": found})).headers)
    assert plain["Cache-Control"] == "no-cache, private"
    assert kept["Cache-Control"] == "public, immutable"
    assert kept["Expires"] == "Fri, 01 Jan 2027 12:00:00 GMT"


def test_a_wrong_hash_is_redirected_and_a_known_tag_is_304() -> None:
    answer = answered(ask(APPS, {"hash": "0"}))
    headers = dict(answer.headers)
    assert answer.status == 301
    assert headers["Location"] == f"{APPS}?hash={headers['ETag'].strip(chr(34))}"
    assert answered(ask(APPS, if_none_match=headers["ETag"])).status == 304


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200),
        ("application/json", 200),
        ("application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 200),
        ("application/yaml", 406),
        ("text/plain", 406),
    ],
)
def test_documents_come_as_json_or_not_at_all(accept: str, status: int) -> None:
    assert answered(ask(APPS, accept=accept)).status == status


@pytest.mark.parametrize("path", ["/version", "/api", "/apis/apps/v1"])
def test_whoever_takes_no_json_is_told_406_as_recorded(path: str) -> None:
    title = "discovery and version are 406 for a client that takes no JSON, health never is"
    seen = next(one for one in golden("media_types")[title] if one["request"] == f"GET {path}")
    answer = answered(ask(path, accept="text/css"))
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body) == seen["body"]


def test_the_version_is_read_by_get_alone() -> None:
    assert answered(ask("/version", method="POST")).status == 405
