# SPDX-License-Identifier: Apache-2.0
"""Requests that no client of good will sends, drawn by hypothesis."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.unit.embedded.hostile.objects import NAMED, OBJECTS
from trellis.embedded.exchange import Ask

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

TOKEN = "admin"
PATCHES = ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
_JSON = "application/json"

scalars: SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["", "a", "1", "1Gi", "50%", "2020-01-01T00:00:00Z", "a/b", "*", "x" * 300]),
)
values: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.text(max_size=6), st.sampled_from(["name", "key", "$patch", "operator"])),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something lies in an object, its top included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path]
    if isinstance(value, dict | list):
        for key, below in inner:
            found += (
                places(below, (*path, key)) if isinstance(below, dict | list) else [(*path, key)]
            )
    return found


@st.composite
def spoiled(draw: st.DrawFn, good: dict[str, Any]) -> Any:
    """A good object in which some places hold anything at all, or have something beside them."""
    body: Any = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(body))) if isinstance(body, dict | list) else ()
        if not path:
            return draw(values)
        holder = body
        for key in path[:-1]:
            holder = holder[key]
        if draw(st.booleans()) or not isinstance(holder, dict):
            holder[path[-1]] = draw(values)
        else:
            holder[draw(st.text(min_size=1, max_size=5))] = draw(values)
    return body


def _deep(opening: str, closing: str) -> SearchStrategy[bytes]:
    return st.integers(50, 20_000).map(lambda n: (opening * n + "1" + closing * n).encode())


bodies: SearchStrategy[bytes] = st.one_of(
    st.binary(max_size=60),
    st.binary(max_size=60).map(lambda junk: b"k8s\x00" + junk),
    st.text(max_size=60).map(str.encode),
    values.map(lambda value: json.dumps(value).encode()),
    _deep("[", "]"),
    _deep('{"a":', "}"),
    _deep('{"spec":[', "]}"),
    st.sampled_from(
        [
            b"",
            b"null",
            b'{"a":1,"a":2}',
            b'{"a":1}{"b":2}',
            b'{"metadata":{"name":"\\ud800"}}',
            b'{"a":NaN}',
            b'{"a":1e400}',
            b'{"a":' + b"9" * 5000 + b"}",
            b"\xff\xfe",
            b"a: &a [1]\nb: [*a, *a]\n",
            b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\n" * 3,
            b"--- !!python/object/apply:os.system ['true']\n",
            b'{"data":"' + b"x" * (3 << 20) + b'"}',
            b'{"metadata":{"name":"big"},"data":{"a":"' + b"x" * (2 << 20) + b'"}}',
        ]
    ),
)

_WORDS = [
    "api",
    "apis",
    "v1",
    "apps",
    "namespaces",
    "default",
    "pods",
    "status",
    "scale",
    "binding",
]
_ODD = [
    "",
    ".",
    "..",
    "%2F",
    "%00",
    "%",
    "%zz",
    "a b",
    "ü",
    "%C3%BC",
    "x" * 300,
    "*",
    "{name}",
    "~",
]
weird_paths: SearchStrategy[str] = st.lists(
    st.one_of(st.sampled_from(_WORDS + _ODD), st.text(max_size=5)), max_size=9
).map(lambda parts: "/" + "/".join(parts))
known_paths: SearchStrategy[str] = st.sampled_from(NAMED).flatmap(
    lambda path: st.sampled_from(
        ["", "/status", "/scale", "/log", "/eviction", "/finalize", "/x"]
    ).map(lambda more: path + more)
)
collections: SearchStrategy[str] = st.sampled_from(sorted({path for path, _ in OBJECTS}))
paths = st.one_of(known_paths, known_paths, collections, weird_paths)

_PARAMETERS = [
    *("watch", "resourceVersion", "resourceVersionMatch", "limit", "continue", "timeoutSeconds"),
    *("labelSelector", "fieldSelector", "fieldManager", "fieldValidation", "force", "dryRun"),
    *("sendInitialEvents", "allowWatchBookmarks", "gracePeriodSeconds", "propagationPolicy"),
    *("pretty", "timeout", "includeObject", "orphanDependents", "container", "follow"),
]
_ARGUMENTS = [
    *("", "0", "1", "-1", "true", "false", "99999999999999999999", "1s", "All", "Strict", "Exact"),
    *("NotOlderThan", "a=b", "a in (b", "!a", "a,,b", "metadata.name=x", "spec.x=1", "a notin (b)"),
    *("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "x" * 300, "\x00", "ü", "1e3"),
    *("Foreground", "Orphan", "None", "Table", "12345678", "a==b,c!=d", "()", "a in ()", "=", "\\"),
]
queries = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(_PARAMETERS), st.text(max_size=4)),
        st.one_of(st.sampled_from(_ARGUMENTS), st.text(max_size=8)),
    ),
    max_size=4,
).map(tuple)

_ACCEPTED = [
    *(_JSON, "*/*", "", "application/yaml", "application/vnd.kubernetes.protobuf", "text/html"),
    *(
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=X;v=v9;g=y",
        ";;;",
        "a/b;q=x",
    ),
    *(
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;stream=watch",
    ),
    *("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/cbor"),
]
_SENT = [
    *(_JSON, "application/yaml", "application/vnd.kubernetes.protobuf", "", "text/plain", "a/b/c"),
    *(f"application/{patch}" for patch in PATCHES),
    *("application/json; charset=utf-8", "application/cbor", "application/json;as=Table", "\x00"),
]
header_sets = st.fixed_dictionaries(
    {
        "authorization": st.sampled_from(
            [f"Bearer {TOKEN}"] * 8 + ["Bearer x", "Basic eDp5", "", "B"]
        )
    },
    optional={
        "accept": st.one_of(st.sampled_from(_ACCEPTED), st.text(max_size=20)),
        "content-type": st.one_of(st.sampled_from(_SENT), st.text(max_size=20)),
        "user-agent": st.text(max_size=200),
        "impersonate-user": st.text(max_size=5),
        "impersonate-group": st.sampled_from(["", "a", "system:masters", "a, b"]),
        "impersonate-extra-x": st.text(max_size=5),
        "audit-id": st.text(max_size=5),
    },
)
methods = st.sampled_from(
    ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "X"]
)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """Anything to anywhere."""
    return Ask(
        method=draw(methods),
        path=draw(paths),
        query=draw(queries),
        headers=draw(header_sets),
        body=draw(bodies),
    )


@st.composite
def writes(draw: st.DrawFn) -> Ask:
    """A write in good order, of an object that is not."""
    collection, good = draw(st.sampled_from(OBJECTS))
    body = json.dumps(draw(spoiled(good))).encode()
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": _JSON}
    query = draw(st.sampled_from([(), (("fieldValidation", "Strict"),), (("dryRun", "All"),)]))
    if draw(st.booleans()):
        return Ask(method="POST", path=collection, query=query, headers=headers, body=body)
    path = f"{collection}/{good['metadata']['name']}"
    return Ask(method="PUT", path=path, query=query, headers=headers, body=body)


@st.composite
def patches(draw: st.DrawFn) -> Ask:
    """A patch of each type, whose content is a spoiled object, or operations on any paths."""
    collection, good = draw(st.sampled_from(OBJECTS))
    kind = draw(st.sampled_from(PATCHES))
    if kind == PATCHES[0]:
        pointers = ["/" + "/".join(map(str, path)) for path in places(good)]
        operation = st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "odd"]),
                "path": st.one_of(st.sampled_from(pointers), st.text(max_size=6)),
            },
            optional={
                "value": values,
                "from": st.one_of(st.sampled_from(pointers), st.text(max_size=6)),
            },
        )
        content: Any = draw(st.lists(operation, max_size=4))
    else:
        content = draw(spoiled(good))
    query = (("fieldManager", "x"), ("force", "true")) if kind == PATCHES[3] else ()
    return Ask(
        method="PATCH",
        path=f"{collection}/{good['metadata']['name']}"
        + draw(st.sampled_from(["", "", "/status"])),
        query=query,
        headers={"authorization": f"Bearer {TOKEN}", "content-type": f"application/{kind}"},
        body=json.dumps(content).encode(),
    )
