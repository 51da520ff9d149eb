# SPDX-License-Identifier: Apache-2.0
"""Which form an answer takes: what the client accepts, and how it is written then.

Protobuf counts as accepted where the real server would send it, but JSON is sent: every client
that asks for protobuf reads an answer by the type it comes with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trellis.embedded.refusals import Refusal, not_acceptable, unsupported_media_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.exchange import Ask

JSON, YAML = "application/json", "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
WRITTEN = (JSON, YAML, PROTOBUF)
STREAMED = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
TABLE, PARTIAL, PARTIAL_LIST = "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
DISCOVERY = "APIGroupDiscoveryList"
_AGENTS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


@dataclass(frozen=True, slots=True)
class Form:
    """`kind` is what an object is turned into, such as Table; empty leaves it as it is."""

    type: str = JSON
    kind: str = ""
    version: str = "v1"
    pretty: bool = False

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("Content-Type", self.type),)


PLAIN, INDENTED = Form(), Form(pretty=True)


class _Clause(NamedTuple):
    type: str
    subtype: str
    quality: float
    parameters: dict[str, str]


def negotiated(ask: Ask, *, custom: bool) -> Form:
    """The form of an object or list, or 406."""
    accept = ask.headers.get("accept", "")
    return _with_pretty(_negotiated(accept, custom), ask)


@lru_cache(maxsize=1024)
def _negotiated(accept: str, custom: bool) -> Form:
    return _chosen(accept, (JSON, YAML) if custom else WRITTEN, convert=True) or _refuse(WRITTEN)


def routed(ask: Ask, produced: Sequence[str] = WRITTEN) -> None:
    """What the router of built-in paths asks first: a type of its own by name, or anything."""
    if not _routed(ask.headers.get("accept", ""), tuple(produced)):
        listed = ", ".join(produced)
        message = f"406: Not Acceptable\n\nAvailable representations: {listed}"
        raise Refusal(406, "NotAcceptable", message, {})


@lru_cache(maxsize=1024)
def _routed(accept: str, produced: tuple[str, ...]) -> bool:
    types = {clause.split(";")[0].strip() for clause in accept.split(",")} if accept else {"*/*"}
    return "*/*" in types or bool(types.intersection(produced)) or types == {""}


def streamed(ask: Ask, *, custom: bool) -> Form:
    """The form of a watch's events, or 406. They are never indented."""
    form = _negotiated(ask.headers.get("accept", ""), custom)
    if form.type == YAML:
        raise not_acceptable(STREAMED)
    return form


def of_error(ask: Ask) -> Form:
    """A Status is written as the client takes it, and indented if it takes nothing we write."""
    form = _of_error(ask.headers.get("accept", ""))
    return form if form.pretty else _with_pretty(form, ask)


@lru_cache(maxsize=1024)
def _of_error(accept: str) -> Form:
    return _chosen(accept, WRITTEN, convert=False) or INDENTED


def of_discovery(ask: Ask) -> Form:
    """Of /api and /apis: `kind` says whether the aggregated form is wanted."""
    form = _of_discovery(ask.headers.get("accept", ""))
    return form if form.kind else _with_pretty(form, ask)


@lru_cache(maxsize=1024)
def _of_discovery(accept: str) -> Form:
    for clause in _clauses(accept):
        if _matches(clause, JSON) and _converted(clause) == (
            "apidiscovery.k8s.io",
            "v2",
            DISCOVERY,
        ):
            return Form(f"{JSON};g=apidiscovery.k8s.io;v=v2;as={DISCOVERY}", DISCOVERY, "v2")
        form = _accepted(clause, WRITTEN, convert=False)
        if form is not None:
            return form
    return _refuse(WRITTEN) if accept else PLAIN


def _refuse(accepted: Sequence[str]) -> Form:
    raise not_acceptable(accepted)


def _with_pretty(form: Form, ask: Ask) -> Form:
    if form.pretty or not pretty(ask):
        return form
    return INDENTED if form == PLAIN else replace(form, pretty=True)


def pretty(ask: Ask) -> bool:
    said = ask.parameter("pretty") if ask.query else ""
    if said:
        return said in _TRUE
    return ask.headers.get("user-agent", "").startswith(_AGENTS)


def _chosen(accept: str, written: Sequence[str], *, convert: bool) -> Form | None:
    if not accept:
        return PLAIN
    for clause in _clauses(accept):
        form = _accepted(clause, written, convert=convert)
        if form is not None:
            return form
    return None


def _accepted(clause: _Clause, written: Sequence[str], *, convert: bool) -> Form | None:
    for media in written:
        if not _matches(clause, media):
            continue
        group, version, kind = _converted(clause)
        wanted = bool(group or version or kind)
        if wanted and not (convert and _convertible(media, group, version, kind)):
            continue
        if not convert and clause.parameters.get("stream"):
            continue
        indented = clause.parameters.get("pretty") == "1"
        sent = YAML if media == YAML else JSON
        return Form(sent, kind, version or "v1", indented)
    return None


def _matches(clause: _Clause, media: str) -> bool:
    type_, _, subtype = media.partition("/")
    return clause.type in (type_, "*") and (
        clause.subtype == "*" or (clause.type == type_ and clause.subtype == subtype)
    )


def _converted(clause: _Clause) -> tuple[str, str, str]:
    get = clause.parameters.get
    return get("g", ""), get("v", ""), get("as", "")


def _convertible(media: str, group: str, version: str, kind: str) -> bool:
    if group != "meta.k8s.io" or version not in ("v1", "v1beta1"):
        return False
    return kind in (PARTIAL, PARTIAL_LIST) or (kind == TABLE and media != PROTOBUF)


def _clauses(accept: str) -> list[_Clause]:
    found: list[_Clause] = []
    for part in accept.split(","):
        media, *parameters = part.strip().split(";")
        type_, _, subtype = (each.strip() for each in media.partition("/"))
        if not subtype and type_ == "*":
            subtype = "*"
        if subtype and "/" not in subtype:
            found.append(_clause(type_, subtype, parameters))
    return _sorted(found)


def _clause(type_: str, subtype: str, parameters: list[str]) -> _Clause:
    quality, known = 1.0, {}
    for parameter in parameters:
        name, _, value = (each.strip() for each in parameter.partition("="))
        if name == "q":
            quality = _quality(value)
        elif value and "=" not in value:
            known[name] = value
    return _Clause(type_, subtype, quality, known)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _sorted(clauses: list[_Clause]) -> list[_Clause]:
    """By insertion, as Go sorts few: its comparison is no order, so how it is used matters."""
    for end in range(1, len(clauses)):
        place = end
        while place and _before(clauses[place], clauses[place - 1]):
            clauses[place - 1 : place + 1] = clauses[place], clauses[place - 1]
            place -= 1
    return clauses


def _before(one: _Clause, other: _Clause) -> bool:
    return (
        one.quality > other.quality
        or (one.type != "*" and other.type == "*")
        or (one.subtype != "*" and other.subtype == "*")
    )


def read_type(ask: Ask) -> str:
    """The type of a body: JSON, YAML or PROTOBUF; JSON if none is said, 415 for any other."""
    said = ask.headers.get("content-type", "")
    media = said.partition(";")[0].strip().lower() if said else JSON
    if media not in WRITTEN:
        raise unsupported_media_type(said, WRITTEN)
    return media


def written(value: Any, form: Form) -> bytes:
    """The bytes of an object; a line of JSON ends with a line end, indented JSON does not."""
    if form.type == YAML:
        return as_yaml(value)
    data = msgspec.json.encode(value)
    return msgspec.json.format(data, indent=2) if form.pretty else data + b"\n"


def rewritten(data: bytes, form: Form) -> bytes:
    """The same of JSON that is bytes already, which is cheaper."""
    if form.type == YAML:
        return as_yaml(msgspec.json.decode(data))
    return msgspec.json.format(data, indent=2) if form.pretty else data + b"\n"


def as_yaml(value: Any) -> bytes:
    # Rarely asked for, and slow to import.
    import yaml  # noqa: PLC0415

    text: str = yaml.safe_dump(value, allow_unicode=True, width=80)
    return text.encode()
