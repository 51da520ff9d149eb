# SPDX-License-Identifier: Apache-2.0
"""What the definitions refuse by themselves, with no operator running, and how they say so."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api.served import create, manifest, place, refused_create, refused_patch

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

SET = "grove-everything"
TOPOLOGY = "seed-001-topology"
NOTHING = object()


@dataclass(frozen=True, slots=True)
class Bad:
    """One value that cannot be: in which manifest, where, and what the server says of it."""

    name: str
    manifest: str
    path: str
    value: Any
    message: str


BAD = [
    Bad("replicas below 0", SET, "spec.replicas", -1, "greater than or equal to 0"),
    Bad("a strategy nobody has", SET, "spec.updateStrategy.type", "Sudden", "Unsupported value"),
    Bad(
        "a startup type without its prefix",
        SET,
        "spec.template.cliqueStartupType",
        "AnyOrder",
        "Unsupported value",
    ),
    Bad("no cliques", SET, "spec.template.cliques", [], "at least 1 items"),
    Bad("a dot in a name", SET, "spec.template.cliques.0.name", "a.b", "should match"),
    Bad("a clique twice", SET, "spec.template.cliques.1.name", "router", "Duplicate value"),
    Bad(
        "a dependency twice",
        SET,
        "spec.template.cliques.2.spec.startsAfter",
        ["router", "router"],
        "Duplicate value",
    ),
    Bad(
        "a group of nothing",
        SET,
        "spec.template.podCliqueScalingGroups.0.cliqueNames",
        [],
        "at least 1 items",
    ),
    Bad(
        "an update that may never begin",
        SET,
        "spec.template.cliques.0.rollingUpdate.maxUnavailable",
        0,
        "greater than or equal to 1",
    ),
    Bad("no delay", SET, "spec.template.terminationDelay", "0s", "must be more than 0s"),
    Bad("no duration", SET, "spec.template.terminationDelay", "soon", "should match"),
    Bad(
        "a duration beyond all",
        SET,
        "spec.template.terminationDelay",
        "9999999999h",
        'Invalid value: "9999999999h": must be more than 0s and at most 2562047h47m16s; '
        "write it like 30m or 4h",
    ),
    Bad(
        "a deadline beyond all",
        SET,
        "spec.template.cliques.0.rollingUpdate.progressDeadline",
        "2000000h2000000h",
        "must be more than 0s and at most 2562047h47m16s",
    ),
    Bad("a scope", SET, "spec.template.resourceSharing.0.scope", "All", "Unsupported value"),
    Bad(
        "a constraint of nothing",
        SET,
        "spec.template.topologyConstraint",
        {"topologyName": "h100"},
        "topologyConstraint must specify pack or deprecated packDomain",
    ),
    Bad(
        "a pack of nothing",
        SET,
        "spec.template.topologyConstraint",
        {"pack": {}},
        "pack must specify at least one of required or preferred",
    ),
    Bad(
        "a level in both forms",
        SET,
        "spec.template.topologyConstraint",
        {"packDomain": "rack", "pack": {"required": "rack"}},
        "must not set both pack.required and deprecated packDomain",
    ),
    Bad(
        "no level",
        SET,
        "spec.template.cliques.0.topologyConstraint.pack.preferred",
        "Rack",
        "should match",
    ),
    Bad(
        "a pod without containers",
        SET,
        "spec.template.cliques.0.spec.podSpec.containers",
        NOTHING,
        "Required value",
    ),
    Bad(
        "no quantity",
        SET,
        "spec.template.cliques.2.spec.podSpec.containers.0.resources.limits.memory",
        "lots",
        "should match",
    ),
    Bad("pods below 0", "grove-podclique", "spec.replicas", -1, "greater than or equal to 0"),
    Bad("no role", "grove-podclique", "spec.roleName", NOTHING, "Required value"),
    Bad("a domain nobody has", TOPOLOGY, "spec.levels.0.domain", "galaxy", "Unsupported value"),
    Bad("a domain twice", TOPOLOGY, "spec.levels.0.domain", "zone", "domain must be unique"),
    Bad(
        "a key twice",
        TOPOLOGY,
        "spec.levels.0.key",
        "topology.kubernetes.io/zone",
        "key must be unique across all levels",
    ),
    Bad("no label key", TOPOLOGY, "spec.levels.0.key", "not a label", "should match"),
    Bad("a long key", TOPOLOGY, "spec.levels.0.key", "x" * 64, "63"),
    Bad("no levels", TOPOLOGY, "spec.levels", [], "at least 1 items"),
    Bad("no domain", "grove-binding", "spec.levels.0.domain", "9lives", "should match"),
    Bad(
        "no references",
        "grove-podgang",
        "spec.podgroups.0.podReferences",
        NOTHING,
        "Required value",
    ),
    Bad(
        "a group twice",
        "grove-podgang",
        "spec.podgroups.1.name",
        "everything-0-router",
        "Duplicate value",
    ),
]

# Changes of a stored set: the path below its template, the value, and what the server says.
IMMUTABLE = [
    ("cliques/0/spec/roleName", "other", "field is immutable; delete"),
    ("cliques/0/spec/minAvailable", 2, "field is immutable; delete"),
    ("cliques/2/spec/startsAfter", ["router"], "field is immutable; delete"),
    ("cliques/0/spec/podSpec/schedulerName", "other", "field is immutable; delete"),
    ("cliques/0/resourceSharing/0/scope", "PerReplica", "field is immutable; delete"),
    (
        "cliques/1/resourceSharing",
        [{"name": "n", "scope": "PerReplica"}],
        "field is immutable; delete",
    ),
    ("cliqueStartupType", "CliqueStartupTypeInOrder", "field is immutable; delete"),
    ("podCliqueScalingGroups/0/cliqueNames", ["worker", "leader"], "field is immutable; delete"),
    ("podCliqueScalingGroups/0/minAvailable", 2, "field is immutable; delete"),
    (
        "podCliqueScalingGroups/0/resourceSharing/0/scope",
        "AllReplicas",
        "field is immutable; delete",
    ),
    ("podCliqueScalingGroups/0/name", "decode", "scaling groups can be neither added"),
    ("podCliqueScalingGroups", NOTHING, "scaling groups can be neither added nor removed"),
    ("cliques/0/name", "front", "cliques can be neither added, removed nor renamed"),
    ("cliques/0", NOTHING, "cliques can be neither added, removed nor renamed"),
    ("resourceClaimTemplates/0/name", "other", "field is immutable; delete"),
    ("resourceClaimTemplates", NOTHING, "field is immutable; delete"),
    ("resourceSharing/1/scope", "PerReplica", "field is immutable; delete"),
]
MUTABLE = [
    ("cliques/0/spec/replicas", 4),
    ("cliques/0/spec/podSpec/containers/0/image", "registry.example/router:2"),
    ("cliques/0/labels", {"tier": "back"}),
    ("cliques/0/annotations", {}),
    ("cliques/0/rollingUpdate/maxUnavailable", 1),
    ("cliques/0/spec/autoScalingConfig/maxReplicas", 9),
    ("cliques/0/topologyConstraint", NOTHING),
    ("cliques/1/spec/minAvailable", 1),
    ("podCliqueScalingGroups/0/replicas", 5),
    ("podCliqueScalingGroups/0/scaleConfig/maxReplicas", 16),
    ("priorityClassName", "low"),
    ("terminationDelay", "5m"),
    ("terminationDelay", "1h.5m1.s2us3\N{MICRO SIGN}s4\N{GREEK SMALL LETTER MU}s5ns"),
    ("terminationDelay", "2562047h47m16.854775807s"),
    ("headlessServiceConfig/publishNotReadyAddresses", True),
    ("topologyConstraint/pack/required", "rack"),
]


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The object with another value at a path, or without what is there."""
    result = deepcopy(body)
    *above, last = (int(part) if part.isdecimal() else part for part in path.split("."))
    holder: Any = result
    for part in above:
        holder = holder[part]
    if value is NOTHING:
        del holder[last]
    else:
        holder[last] = value
    return result


def edit(path: str, value: Any) -> list[dict[str, Any]]:
    where = f"/spec/template/{path}"
    if value is NOTHING:
        return [{"op": "remove", "path": where}]
    return [
        {"op": "add" if path.endswith("Available") else "replace", "path": where, "value": value}
    ]


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
async def test_what_cannot_be_is_refused_with_its_field(
    defined: Cluster, namespace: str, bad: Bad
) -> None:
    body = changed(manifest(bad.manifest), bad.path, bad.value)
    causes = await refused_create(defined.api, namespace, body)
    assert any(bad.message in cause["message"] for cause in causes), causes
    fields = [cause["field"].replace("[", ".").replace("]", "") for cause in causes]
    above = bad.path.rpartition(".")[0]
    assert any(field.startswith(above) or above.startswith(field) for field in fields), causes


async def test_an_unknown_field_is_refused_by_a_strict_client(
    defined: Cluster, namespace: str
) -> None:
    body = changed(manifest(SET), "spec.template.clique", "a slip")
    said = await defined.kubectl(
        "create",
        "--dry-run=server",
        "-n",
        namespace,
        "-f",
        "-",
        stdin=json.dumps(body),
        check=False,
    )
    assert 'unknown field "spec.template.clique"' in said


async def test_what_other_objects_were_made_from_cannot_change(
    defined: Cluster, namespace: str
) -> None:
    await create(defined.api, namespace, manifest(SET))
    path = f"{place('PodCliqueSet', namespace)}/everything"
    for where, value, message in IMMUTABLE:
        causes = await refused_patch(defined.api, path, edit(where, value))
        assert any(message in cause["message"] for cause in causes), (where, causes)


async def test_everything_else_may_change(defined: Cluster, namespace: str) -> None:
    await create(defined.api, namespace, manifest(SET))
    path = f"{place('PodCliqueSet', namespace)}/everything"
    for where, value in MUTABLE:
        await defined.api.do("PATCH", path, edit(where, value), patch="json")
    await defined.api.do("PATCH", path, {"spec": {"replicas": 0}}, patch="merge")
    strategy = {"spec": {"updateStrategy": {"type": "OnDelete"}}}
    await defined.api.do("PATCH", path, strategy, patch="merge")


async def test_the_order_of_cliques_may_change_only_where_it_says_nothing(
    defined: Cluster, namespace: str
) -> None:
    for name, startup in (("any", "AnyOrder"), ("in", "InOrder")):
        body = manifest("seed-000-replica")
        body["metadata"]["name"] = name
        body["spec"]["template"]["cliqueStartupType"] = f"CliqueStartupType{startup}"
        await create(defined.api, namespace, body)
    cliques = list(reversed(manifest("seed-000-replica")["spec"]["template"]["cliques"]))
    patch = {"spec": {"template": {"cliques": cliques}}}
    place_of = place("PodCliqueSet", namespace)
    causes = await refused_patch(defined.api, f"{place_of}/in", patch)
    assert any("the order of cliques" in cause["message"] for cause in causes), causes
    await defined.api.do("PATCH", f"{place_of}/any", patch, patch="merge")


async def test_a_minimum_that_admission_fills_in_later_is_let_in_once(
    defined: Cluster, namespace: str
) -> None:
    await create(defined.api, namespace, manifest("seed-003-ondelete"))
    path = f"{place('PodCliqueSet', namespace)}/training-workload"
    first, second = edit("cliques/0/spec/minAvailable", 8), edit("cliques/0/spec/minAvailable", 4)
    await defined.api.do("PATCH", path, first, patch="json")
    (cause,) = await refused_patch(defined.api, path, second)
    assert cause["field"] == "spec.template.cliques[0].spec.minAvailable"
    assert cause["reason"] == "FieldValueForbidden"
