# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.virtual import virtual
from tests.unit.embedded.core.clusters import Admin, fresh_cluster
from tests.unit.embedded.definitions.builders import TEXT, crd, fields, thing, version

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = f"{DEFINITIONS}/things.example.com"
THINGS = "/apis/example.com/v1/namespaces/default/things"


def definition(*properties: str) -> dict[str, Any]:
    return crd(version(spec=fields(**dict.fromkeys(properties, TEXT))))


def schema(admin: Admin) -> Node:
    [served] = admin.cluster.world.registry.versions("example.com", "things")
    node: Node = served.strategy.node  # type: ignore[attr-defined]
    return node


@virtual
async def test_a_kind_is_not_made_anew_because_an_object_of_it_goes() -> None:
    """Whatever its schema speaks of."""
    admin = await fresh_cluster()
    await admin.do("POST", DEFINITIONS, definition("deletionTimestamp"))
    before = schema(admin)
    await admin.do("POST", THINGS, thing())
    await admin.do("DELETE", f"{THINGS}/x")
    assert schema(admin) is before


@virtual
async def test_a_definition_goes_with_the_last_of_its_objects() -> None:
    admin = await fresh_cluster()
    await admin.do("POST", DEFINITIONS, definition("name"))
    held = thing()
    held["metadata"]["finalizers"] = ["example.com/held"]
    await admin.do("POST", THINGS, held)
    await admin.do("DELETE", DEFINITION)
    assert (await admin.ask("GET", DEFINITION)).status == 200
    await admin.do("PATCH", f"{THINGS}/x", {"metadata": {"finalizers": None}}, patch="merge")
    assert (await admin.ask("GET", DEFINITION)).status == 404
