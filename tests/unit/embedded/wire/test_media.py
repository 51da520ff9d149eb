# SPDX-License-Identifier: Apache-2.0
"""Which form is chosen, and what is said when there is none."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.wire.builders import ask, golden, refusal
from trellis.embedded.refusals import Refusal
from trellis.embedded.wire import media

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
STATUS: dict[str, Any] = {"kind": "Status", "code": 404}

CHOSEN = {
    "nothing said": ("", media.JSON, ""),
    "anything": ("*/*", media.JSON, ""),
    "a browser": ("text/html,application/xml;q=0.9,*/*;q=0.8", media.JSON, ""),
    "JSON among others": ("text/plain, application/json", media.JSON, ""),
    "a quality of zero": ("application/json;q=0", media.JSON, ""),
    "a watch's type": ("application/json;stream=watch", media.JSON, ""),
    "YAML": (media.YAML, media.YAML, ""),
    "YAML preferred": (f"application/json;q=0.1,{media.YAML};q=0.9", media.YAML, ""),
    "a table": (TABLE, media.JSON, "Table"),
    "what kubectl sends": (KUBECTL, media.JSON, "Table"),
    "a table or JSON, other group": (
        f"{TABLE.replace('meta.k8s.io', 'example.com')}, application/json",
        media.JSON,
        "",
    ),
    "protobuf or JSON": (f"{media.PROTOBUF},application/json", media.JSON, ""),
    "a table in protobuf or in JSON": (
        f"{media.PROTOBUF};as=Table;v=v1;g=meta.k8s.io,{TABLE}",
        media.JSON,
        "Table",
    ),
}


@pytest.mark.parametrize("custom", [False, True], ids=["built-in", "custom"])
@pytest.mark.parametrize("case", CHOSEN)
def test_a_form_is_chosen_for(case: str, custom: bool) -> None:
    accept, kind, converted = CHOSEN[case]
    form = media.negotiated(ask(accept=accept), custom=custom)
    assert (form.type, form.kind) == (kind, converted)


@pytest.mark.parametrize("accept", ["text/plain", "application/cbor", "nonsense", f"{TABLE}x"])
def test_what_cannot_be_written_is_406(accept: str) -> None:
    with pytest.raises(Refusal) as refused:
        media.negotiated(ask(accept=accept), custom=True)
    recorded = golden("tables")["an unknown kind is 406, unless another type is accepted as well"]
    assert refused.value.message == recorded[0]["body"]["message"]
    assert refused.value.details is None


def test_protobuf_alone_is_answered_in_json_for_built_in_kinds_and_406_for_custom_ones() -> None:
    assert media.negotiated(ask(accept=media.PROTOBUF), custom=False) == media.PLAIN
    with pytest.raises(Refusal):
        media.negotiated(ask(accept=media.PROTOBUF), custom=True)


@pytest.mark.parametrize("accept", ["text/plain", "application/*", "nonsense"])
def test_the_router_of_built_in_kinds_wants_a_type_by_name(accept: str) -> None:
    with pytest.raises(Refusal) as refused:
        media.routed(ask(accept=accept))
    title = "application/* is not acceptable for a built-in kind but is for a custom resource"
    assert refused.value.status["message"] == golden("media_types")[title][0]["body"]["message"]
    assert refused.value.details == {}


@pytest.mark.parametrize("accept", ["", "*/*", TABLE, "text/plain, application/json;q=0.1"])
def test_the_router_lets_pass(accept: str) -> None:
    media.routed(ask(accept=accept))


def test_a_watch_is_never_yaml() -> None:
    assert media.streamed(ask(accept=TABLE), custom=False).kind == "Table"
    with pytest.raises(Refusal, match="application/json;stream=watch"):
        media.streamed(ask(accept=media.YAML), custom=False)


def test_a_status_is_compact_for_those_who_take_json_and_indented_for_those_who_do_not() -> None:
    assert media.of_error(ask(accept=KUBECTL)) == media.PLAIN
    assert media.of_error(ask(accept=TABLE)) == media.INDENTED
    assert media.of_error(ask(accept="text/plain")) == media.INDENTED
    assert media.of_error(ask(accept=media.YAML)).type == media.YAML


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (DISCOVERY, media.DISCOVERY),
        (f"{DISCOVERY},application/json", media.DISCOVERY),
        (f"{DISCOVERY.replace('v=v2', 'v=v9')},application/json", ""),
        ("application/json", ""),
        ("", ""),
    ],
)
def test_discovery_is_aggregated_for_those_who_ask(accept: str, kind: str) -> None:
    assert media.of_discovery(ask(accept=accept)).kind == kind


def test_an_unknown_version_of_discovery_alone_is_406() -> None:
    with pytest.raises(Refusal):
        media.of_discovery(ask(accept=DISCOVERY.replace("v=v2", "v=v2beta1")))


@pytest.mark.parametrize("title", ["pretty indents by two spaces and leaves out the line end"])
def test_pretty_is_as_recorded(title: str) -> None:
    for seen in golden("routing")[title]:
        value = seen["note"].removeprefix("text with pretty=")
        form = media.of_error(ask(query={"pretty": value} if value else {}))
        assert media.written(json.loads(seen["value"]), form).decode() == seen["value"]


def test_agents_get_what_they_got() -> None:
    for seen in golden("routing")["browsers, curl and wget get indented answers without asking"]:
        form = media.of_error(ask(user_agent=seen["note"].removeprefix("text for ")))
        assert media.written(json.loads(seen["value"]), form).decode() == seen["value"]


def test_bytes_are_rewritten_as_values_are_written() -> None:
    data = json.dumps(STATUS, separators=(",", ":")).encode()
    for form in (media.PLAIN, media.INDENTED, media.Form(media.YAML)):
        assert media.rewritten(data, form) == media.written(STATUS, form)
    assert yaml.safe_load(media.as_yaml(STATUS)) == STATUS


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("", media.JSON),
        ("application/json; charset=utf-8", media.JSON),
        ("APPLICATION/JSON", media.JSON),
        ("application/yaml", media.YAML),
        ("application/vnd.kubernetes.protobuf", media.PROTOBUF),
    ],
)
def test_a_body_is_read_as(said: str, read: str) -> None:
    assert media.read_type(ask(content_type=said)) == read


@pytest.mark.parametrize("said", ["text/plain", "*/*", "application/merge-patch+json"])
def test_a_body_of_another_type_is_415(said: str) -> None:
    with pytest.raises(Refusal) as refused:
        media.read_type(ask(content_type=said))
    assert refused.value.code == 415
    assert refused.value.message.endswith(", ".join(media.WRITTEN))


@given(st.text(alphabet="aplicton/jsyml*;,=qvg .019", max_size=60))
def test_no_accept_header_breaks_the_choice(accept: str) -> None:
    for choose in (media.of_error, media.of_discovery):
        refused = refusal(partial(choose, ask(accept=accept)))
        assert refused is None or refused.code == 406
