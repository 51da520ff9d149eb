# SPDX-License-Identifier: Apache-2.0
"""What the definition of PodCliqueSet lets nobody change, by its own rules."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.embedded.schema.node import structural
from trellis.embedded.schema.rules import run_rules

NOTHING = object()
SHARED = {"name": "fast", "scope": "AllReplicas"}


@pytest.fixture(scope="module")
def schema() -> Any:
    (served,) = (one for one in KINDS if one.type is PodCliqueSet)
    return structural(definition(served)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def a_set(path: str = "", value: Any = NOTHING) -> dict[str, Any]:
    """A set with this below its template, and of the things that must not change nothing else."""
    template: dict[str, Any] = {
        "cliqueStartupType": "CliqueStartupTypeAnyOrder",
        "cliques": [{"name": "worker", "spec": {"roleName": "worker", "podSpec": {}}}],
    }
    if value is not NOTHING:
        holder: Any = template
        *above, last = (int(part) if part.isdecimal() else part for part in path.split("."))
        for part in above:
            holder = holder[part]
        holder[last] = deepcopy(value)
    return {"spec": {"template": template}}


OPTIONAL = [
    pytest.param("cliques.0.spec.startsAfter", [], ["other"], id="startsAfter"),
    pytest.param("cliques.0.spec.podSpec.schedulerName", "", "kai", id="schedulerName"),
    pytest.param(
        "cliques.0.spec.podSpec.schedulerName",
        "default-scheduler",
        "kai",
        id="a schedulerName that says nothing",
    ),
    pytest.param("cliques.0.resourceSharing", [], [SHARED], id="sharing of a clique"),
    pytest.param("resourceSharing", [], [SHARED], id="sharing of the set"),
    pytest.param("resourceClaimTemplates", [], [{"name": "fast"}], id="resourceClaimTemplates"),
    pytest.param(
        "podCliqueScalingGroups",
        [],
        [{"name": "group", "cliqueNames": ["worker"]}],
        id="podCliqueScalingGroups",
    ),
]


@pytest.mark.parametrize(("path", "empty", "full"), OPTIONAL)
def test_an_empty_field_is_as_none_and_a_full_one_stays(
    schema: Any, path: str, empty: Any, full: Any
) -> None:
    """A client in Go that reads an empty list writes none, and must not be refused for it."""
    none = a_set()
    for new, old in ((none, a_set(path, empty)), (a_set(path, empty), none)):
        assert run_rules(schema, new, old).errors == []
    for other in (none, a_set(path, empty)):
        for new, old in ((other, a_set(path, full)), (a_set(path, full), other)):
            said = [str(error) for error in run_rules(schema, new, old).errors]
            assert len(said) == 1
            assert "field is immutable" in said[0]
            assert path.rpartition(".")[2] in said[0]
