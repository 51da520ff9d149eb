# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from trellis import __version__
from trellis.api.meta import Value
from trellis.api.schema.builtin import structural
from trellis.api.schema.crd import Undescribed, definition, schema
from trellis.api.schema.generate import FOLDER, files, main, render
from trellis.api.schema.kinds import KINDS
from trellis.api.schema.marks import Embedded, mark
from trellis.api.schema.shapes import Kind, NotOnTheWire, fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from msgspec import Struct

# `kubectl apply` keeps the whole object in an annotation, which may be this long.
ANNOTATION_LIMIT = 256 << 10
BY_KIND = {served.type.resource.kind: served for served in KINDS}
NAMES = list(BY_KIND)


@cache
def version(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = definition(BY_KIND[kind])["spec"]["versions"][0]
    return found


def root(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = version(kind)["schema"]["openAPIV3Schema"]
    return found


def at(kind: str, path: str) -> dict[str, Any]:
    """The schema at a path such as `spec.template.cliques.name`; lists stand for their items."""
    found = root(kind)
    for name in path.split("."):
        found = found.get("items", found)["properties"][name]
    return found


def structs(struct: type[Struct]) -> Iterator[type[Struct]]:
    yield struct
    for field in fields(struct).values():
        for shape in (field.shape, field.shape.item):
            if shape is not None and shape.struct is not None and field.name != "metadata":
                yield from structs(shape.struct)


# Everything that Grove has, by where it is and what it must say. `!` marks what is required.
TABLE = {
    "PodCliqueSet": """
        spec! spec.replicas=0 spec.updateStrategy spec.updateStrategy.type=RollingRecreate
        spec.template! spec.template.cliques!
        spec.template.cliqueStartupType=CliqueStartupTypeAnyOrder
        spec.template.priorityClassName spec.template.headlessServiceConfig
        spec.template.headlessServiceConfig.publishNotReadyAddresses!=True
        spec.template.topologyConstraint spec.template.topologyConstraint.topologyName
        spec.template.topologyConstraint.pack spec.template.topologyConstraint.pack.required
        spec.template.topologyConstraint.pack.preferred
        spec.template.topologyConstraint.packDomain spec.template.terminationDelay
        spec.template.resourceClaimTemplates spec.template.resourceClaimTemplates.name!
        spec.template.resourceClaimTemplates.templateSpec! spec.template.resourceSharing
        spec.template.resourceSharing.name! spec.template.resourceSharing.namespace
        spec.template.resourceSharing.scope! spec.template.resourceSharing.filter
        spec.template.resourceSharing.filter.childCliqueNames
        spec.template.resourceSharing.filter.childScalingGroupNames
        spec.template.podCliqueScalingGroups spec.template.podCliqueScalingGroups.name!
        spec.template.podCliqueScalingGroups.cliqueNames!
        spec.template.podCliqueScalingGroups.annotations
        spec.template.podCliqueScalingGroups.replicas=1
        spec.template.podCliqueScalingGroups.minAvailable=1
        spec.template.podCliqueScalingGroups.scaleConfig
        spec.template.podCliqueScalingGroups.scaleConfig.minReplicas
        spec.template.podCliqueScalingGroups.scaleConfig.maxReplicas!
        spec.template.podCliqueScalingGroups.scaleConfig.metrics
        spec.template.podCliqueScalingGroups.rollingUpdate
        spec.template.podCliqueScalingGroups.rollingUpdate.maxUnavailable
        spec.template.podCliqueScalingGroups.rollingUpdate.progressDeadline
        spec.template.podCliqueScalingGroups.resourceSharing
        spec.template.podCliqueScalingGroups.resourceSharing.filter.childCliqueNames
        spec.template.podCliqueScalingGroups.topologyConstraint
        spec.template.cliques.name! spec.template.cliques.labels
        spec.template.cliques.annotations spec.template.cliques.topologyConstraint
        spec.template.cliques.resourceSharing spec.template.cliques.rollingUpdate
        spec.template.cliques.rollingUpdate.maxUnavailable
        spec.template.cliques.rollingUpdate.progressDeadline spec.template.cliques.spec!
        spec.template.cliques.spec.roleName! spec.template.cliques.spec.podSpec!
        spec.template.cliques.spec.replicas! spec.template.cliques.spec.minAvailable
        spec.template.cliques.spec.startsAfter spec.template.cliques.spec.autoScalingConfig
        status status.observedGeneration status.conditions status.lastErrors
        status.lastErrors.code! status.lastErrors.description! status.lastErrors.observedAt!
        status.replicas status.updatedReplicas!=0 status.availableReplicas!=0
        status.hpaPodSelector status.podGangStatuses status.podGangStatuses.name!
        status.podGangStatuses.phase! status.podGangStatuses.conditions
        status.currentGenerationHash status.updateProgress
        status.updateProgress.updateStartedAt status.updateProgress.updateEndedAt
        status.updateProgress.updatedPodCliquesCount=0
        status.updateProgress.totalPodCliquesCount=0
        status.updateProgress.updatedPodCliqueScalingGroupsCount=0
        status.updateProgress.totalPodCliqueScalingGroupsCount=0
        status.updateProgress.currentlyUpdating
        status.updateProgress.currentlyUpdating.replicaIndex!
        status.updateProgress.currentlyUpdating.updateStartedAt
        status.updateProgress.currentlyUpdating.updateEndedAt
        status.rollingUpdateProgress status.rollingUpdateProgress.updatedPodCliques
        status.rollingUpdateProgress.updatedPodCliqueScalingGroups
        status.rollingUpdateProgress.currentlyUpdating.replicaIndex!
    """,
    "PodClique": """
        spec! spec.roleName! spec.podSpec! spec.replicas! spec.minAvailable spec.startsAfter
        spec.autoScalingConfig spec.autoScalingConfig.minReplicas
        spec.autoScalingConfig.maxReplicas! spec.autoScalingConfig.metrics
        status status.observedGeneration status.lastErrors status.replicas
        status.readyReplicas!=0 status.updatedReplicas!=0 status.scheduleGatedReplicas!=0
        status.scheduledReplicas!=0 status.hpaPodSelector status.conditions
        status.currentPodCliqueSetGenerationHash status.currentPodTemplateHash
        status.updateProgress status.updateProgress.updateStartedAt
        status.updateProgress.updateEndedAt status.updateProgress.podCliqueSetGenerationHash!
        status.updateProgress.podTemplateHash!
        status.updateProgress.readyPodsSelectedToUpdate
        status.updateProgress.readyPodsSelectedToUpdate.current!
        status.updateProgress.readyPodsSelectedToUpdate.completed
        status.rollingUpdateProgress status.rollingUpdateProgress.podTemplateHash!
    """,
    "PodCliqueScalingGroup": """
        spec! spec.replicas!=1 spec.minAvailable=1 spec.cliqueNames!
        status status.replicas status.scheduledReplicas!=0 status.availableReplicas!=0
        status.updatedReplicas!=0 status.selector status.observedGeneration status.lastErrors
        status.conditions status.currentPodCliqueSetGenerationHash status.updateProgress
        status.updateProgress.updateStartedAt! status.updateProgress.updateEndedAt
        status.updateProgress.podCliqueSetGenerationHash!
        status.updateProgress.updatedPodCliquesCount=0
        status.updateProgress.totalPodCliquesCount=0
        status.updateProgress.readyReplicaIndicesSelectedToUpdate
        status.updateProgress.readyReplicaIndicesSelectedToUpdate.current!
        status.updateProgress.readyReplicaIndicesSelectedToUpdate.completed
        status.rollingUpdateProgress status.rollingUpdateProgress.updatedPodCliques
    """,
    "ClusterTopology": """
        spec! spec.levels! spec.levels.domain! spec.levels.key!
        status status.conditions status.observedGeneration status.lastErrors
    """,
    "ClusterTopologyBinding": """
        spec! spec.levels! spec.levels.domain! spec.levels.key! spec.schedulerTopologyBindings
        spec.schedulerTopologyBindings.schedulerName!
        spec.schedulerTopologyBindings.topologyReference!
        status status.observedGeneration status.conditions status.schedulerTopologyStatuses
        status.schedulerTopologyStatuses.schedulerName!
        status.schedulerTopologyStatuses.topologyReference!
        status.schedulerTopologyStatuses.inSync!
        status.schedulerTopologyStatuses.schedulerBackendTopologyObservedGeneration
        status.schedulerTopologyStatuses.message
    """,
    "PodGang": """
        spec! spec.podgroups! spec.podgroups.name! spec.podgroups.podReferences!
        spec.podgroups.podReferences.namespace! spec.podgroups.podReferences.name!
        spec.podgroups.minReplicas! spec.podgroups.topologyConstraint spec.topologyConstraint
        spec.topologyConstraint.packConstraint spec.topologyConstraint.packConstraint.required
        spec.topologyConstraint.packConstraint.preferred spec.topologyConstraintGroupConfigs
        spec.topologyConstraintGroupConfigs.name!
        spec.topologyConstraintGroupConfigs.podGroupNames!
        spec.topologyConstraintGroupConfigs.topologyConstraint spec.priorityClassName
        spec.reuseReservationRef spec.reuseReservationRef.namespace!
        spec.reuseReservationRef.name! status status.phase! status.conditions
        status.placementScore
    """,
}
ROWS = [(kind, row) for kind, rows in TABLE.items() for row in rows.split()]


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=[f"{kind}.{row}" for kind, row in ROWS])
def test_every_field_of_groves_is_declared_with_its_default(kind: str, row: str) -> None:
    stated, _, default = row.partition("=")
    path = stated.rstrip("!")
    found = at(kind, path)
    assert str(found.get("default", "")) == default
    above, _, name = path.rpartition(".")
    parent = at(kind, above) if above else root(kind)
    assert (name in parent.get("items", parent).get("required", [])) == stated.endswith("!")


@pytest.mark.parametrize("kind", NAMES)
def test_every_field_of_ours_is_described_and_nothing_of_kubernetes_is(kind: str) -> None:
    for struct in structs(BY_KIND[kind].type):
        for field in fields(struct).values():
            if field.name == "metadata":
                continue
            assert field.mark is not None
            assert field.mark.description.endswith(".")
            if field.shape.kind is Kind.RAW:
                assert isinstance(field.shape.embedded, Embedded)
                embedded = json.dumps(structural(field.shape.embedded.definition))
                assert '"description": "' not in embedded


@pytest.mark.parametrize("kind", NAMES)
def test_a_default_of_the_schema_is_the_default_of_the_type(kind: str) -> None:
    for struct in structs(BY_KIND[kind].type):
        for field in fields(struct).values():
            keywords = field.mark.keywords if field.mark else {}
            if "default" in keywords:
                assert field.default == keywords["default"], f"{struct.__name__}.{field.name}"


@pytest.mark.parametrize("kind", NAMES)
def test_a_definition_is_small_enough_for_a_plain_apply(kind: str) -> None:
    assert len(json.dumps(definition(BY_KIND[kind]))) < ANNOTATION_LIMIT


@pytest.mark.parametrize(
    ("kind", "selector"),
    [
        ("PodCliqueSet", ".status.hpaPodSelector"),
        ("PodClique", ".status.hpaPodSelector"),
        ("PodCliqueScalingGroup", ".status.selector"),
    ],
)
def test_scaling_has_the_paths_that_autoscalers_find(kind: str, selector: str) -> None:
    assert version(kind)["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": selector,
        },
    }


@pytest.mark.parametrize("kind", ["ClusterTopology", "ClusterTopologyBinding", "PodGang"])
def test_what_has_no_replicas_is_not_scaled(kind: str) -> None:
    assert version(kind)["subresources"] == {"status": {}}


def test_names_are_groves_own() -> None:
    short = {
        kind: definition(served)["spec"]["names"]["shortNames"] for kind, served in BY_KIND.items()
    }
    assert short == {
        "PodCliqueSet": ["pcs"],
        "PodClique": ["pclq"],
        "PodCliqueScalingGroup": ["pcsg"],
        "ClusterTopology": ["ct"],
        "ClusterTopologyBinding": ["ctb"],
        "PodGang": ["pg"],
    }
    scopes = {kind: definition(served)["spec"]["scope"] for kind, served in BY_KIND.items()}
    assert [kind for kind, scope in scopes.items() if scope == "Cluster"] == [
        "ClusterTopology",
        "ClusterTopologyBinding",
    ]


@pytest.mark.parametrize("kind", NAMES)
def test_columns_say_whether_it_is_well_and_end_with_its_age(kind: str) -> None:
    columns = version(kind)["additionalPrinterColumns"]
    shown = [column["name"] for column in columns if not column.get("priority")]
    assert "Reason" in shown
    assert "Ready" in shown
    assert shown[-1] == "Age"
    counts = [column for column in columns if column["name"].startswith(("PCLQs-", "PCSGs-"))]
    assert all(column["priority"] == 1 for column in counts)
    assert len({column["name"] for column in columns}) == len(columns)


def test_a_definition_tells_which_release_it_is_of() -> None:
    found = definition(BY_KIND["PodGang"])["metadata"]
    assert found["annotations"] == {"trellis.dev/release": __version__}


def test_words_that_other_components_write_are_not_limited() -> None:
    for path in ("status.phase", "status.conditions.reason"):
        assert "enum" not in at("PodGang", path)
    assert "enum" not in at("PodCliqueSet", "status.podGangStatuses.phase")


def test_what_lies_in_the_repository_is_what_would_be_generated() -> None:
    stored = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert stored == dict(files()), "deploy/crds is stale: run `make gen`"


def test_files_are_written_where_one_asks_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(tmp_path / "crds")
    written = {path.name for path in (tmp_path / "crds").iterdir()}
    assert written == {path.name for path in FOLDER.iterdir()}
    assert capsys.readouterr().out.count("bytes") == len(KINDS)


def test_what_is_written_repeats_instead_of_pointing() -> None:
    shared = {"type": "string"}
    assert "&" not in render({"a": shared, "b": shared})


class Silent(Value, frozen=True, kw_only=True):
    name: str


class Odd(Value, frozen=True, kw_only=True):
    value: Annotated[int | str, mark("Either.")]


class Odder(Value, frozen=True, kw_only=True):
    value: Annotated[set[str], mark("A set.")]


def test_a_field_without_a_description_is_refused() -> None:
    with pytest.raises(Undescribed, match=r"Silent\.name"):
        schema(Silent)


@pytest.mark.parametrize("struct", [Odd, Odder])
def test_a_type_without_a_form_in_a_schema_is_refused(struct: type[Struct]) -> None:
    with pytest.raises(NotOnTheWire):
        fields(struct)
