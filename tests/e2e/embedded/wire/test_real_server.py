# SPDX-License-Identifier: Apache-2.0
"""What we keep as data, and how we read and print, against the real server."""

from __future__ import annotations

import json
import lzma
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.api import Api, Request
from tests.unit.embedded.wire.builders import Noon, ask, natives
from trellis.embedded.wire import protobuf
from trellis.embedded.wire.media import Form
from trellis.embedded.wire.tables import Tables
from trellis.lab import resources
from trellis.lab.harvest import FOLDER, harvested

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
from tests.support.waiting import eventually

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_AGE = re.compile(r"(\d+[smhdy])+|<invalid>")


class Now(Noon):
    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture(autouse=True)
def _of_the_real_server(cluster: Cluster) -> None:
    if cluster.lab is None:
        pytest.skip("asks the lab what the real server says; no other cluster can tell")


async def read(api: Api, path: str, accept: str) -> bytes:
    request = Request(method="GET", path=path, headers={"Accept": accept})
    return (await api.send(request)).content


def listable() -> list[tuple[str, Any]]:
    return [
        (f"/apis/{each.group}/{each.version}/{each.plural}", each)
        if each.group
        else (f"/api/{each.version}/{each.plural}", each)
        for each in natives()
        if "list" in each.verbs
    ]


def bare(value: Any) -> Any:
    """Without what is empty: protobuf does not tell nothing from an empty list or struct."""
    if isinstance(value, dict):
        found = {name: bare(inner) for name, inner in value.items()}
        return {
            name: inner
            for name, inner in found.items()
            if inner not in (None, {}, [], "", 0, False)
        }
    return [bare(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", [path for path, each in listable() if each.namespaced])
async def test_protobuf_reads_as_the_server_writes_it(api: Api, path: str) -> None:
    async def same() -> bool:
        """Both forms of one version: whatever else runs writes meanwhile."""
        plain = await api.do("GET", path)
        _, kind, found = protobuf.decode(await read(api, path, PROTOBUF))
        assert kind == plain["kind"]
        if found["metadata"] != plain["metadata"]:
            return False
        assert bare(found) == bare(plain)
        return True

    await eventually(same, "two reads of one version")


async def test_rows_are_printed_as_the_server_prints_them(api: Api) -> None:
    for path, served in listable():
        told = json.loads(await read(api, f"{path}?includeObject=Object", TABLE))
        objects = [row["object"] for row in told["rows"] or ()]
        found = Tables(Now()).of(served, objects, ask(), Form(kind="Table"), {"a": "b"})
        assert list(found["columnDefinitions"]) == told["columnDefinitions"], path
        for ours, theirs in zip(found["rows"] or (), told["rows"] or (), strict=True):
            assert ageless(ours["cells"]) == ageless(theirs["cells"]), path


def ageless(cells: list[Any]) -> list[Any]:
    return [_AGE.sub("<age>", cell) if isinstance(cell, str) else cell for cell in cells]


@pytest.mark.parametrize(
    ("name", "harvest"),
    [("resources.json", resources.resources), ("columns.json", resources.columns)],
)
async def test_the_data_is_what_the_server_says(cluster: Cluster, name: str, harvest: Any) -> None:
    assert cluster.lab is not None
    data = (await harvested(cluster.lab, harvest)).decode()
    kept = (FOLDER / name).read_text()
    # Other tests define kinds of their own meanwhile.
    assert set(kept.splitlines()) <= set(data.splitlines())


async def test_the_documents_are_those_of_the_server(api: Api) -> None:
    kept = json.loads(lzma.decompress((FOLDER / "openapi.json.xz").read_bytes()))
    for path in ("api/v1", "apis/apps/v1", "apis/resource.k8s.io/v1", "version"):
        assert kept[path] == await api.do("GET", f"/openapi/v3/{path}"), path
