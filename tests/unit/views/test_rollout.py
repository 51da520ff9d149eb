# SPDX-License-Identifier: Apache-2.0
"""What is said of a rollout, and when it is over."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import pytest

from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Object
from trellis.views.rollout import MOST_NAMED, Report, Sight, Verdict, report

T = TypeVar("T", bound=Object)
Json = dict[str, Any]

BEFORE, NOON, LATER = "2026-11-01T11:00:00Z", "2026-11-01T12:00:00Z", "2026-11-01T12:10:00Z"
OPEN = {"updateStartedAt": NOON}
ENDED = {"updateStartedAt": NOON, "updateEndedAt": LATER}
ON_DELETE = {"type": "OnDelete"}


def condition(kind: str, status: str, generation: int = 2, **more: str) -> Json:
    told = {"reason": "Told", "message": "", **more}
    return {"type": kind, "status": status, "observedGeneration": generation, **told}


READY = condition("Ready", "True", message="1 of 1 replicas are available")
UNREADY = condition("Ready", "False", message="waiting for PodClique train-0-worker")
UPDATING = condition("UpdateInProgress", "True", message="Replica 0 is being updated")


def a_set(*conditions: Json, generation: int = 2, strategy: Json | None = None, **more: Any) -> Any:
    """One replica, rolled out and well, but for what is said of its status."""
    status = {
        "observedGeneration": 2,
        "replicas": 1,
        "updatedReplicas": 1,
        "availableReplicas": 1,
        "currentGenerationHash": "new",
        "conditions": list(conditions or (READY,)),
    }
    metadata = {"name": "train", "namespace": "ml", "uid": "one", "generation": generation}
    deletion = {"deletionTimestamp": LATER} if more.pop("deleted", False) else {}
    clique = {"name": "worker", "spec": {"roleName": "w", "replicas": 4, "podSpec": {}}}
    spec = {"replicas": 1, "template": {"cliques": [clique]}}
    if strategy:
        spec["updateStrategy"] = strategy
    return {"metadata": metadata | deletion, "spec": spec, "status": status | more}


def a_clique(name: str = "train-0-worker", *conditions: Json, **more: Any) -> Any:
    """Four pods, all of them on the new template, but for what is said of its status."""
    status = {
        "observedGeneration": 2,
        "replicas": 4,
        "readyReplicas": 4,
        "updatedReplicas": 4,
        "currentPodCliqueSetGenerationHash": "new",
        "conditions": list(conditions),
    }
    metadata = {
        "name": name,
        "namespace": "ml",
        "generation": 2,
        "labels": {"grove.io/pod-template-hash": "h2"},
        **more.pop("metadata", {}),
    }
    spec = {"roleName": "w", "replicas": 4, "podSpec": {}}
    return {"metadata": metadata, "spec": spec, "status": status | more}


def a_group(*conditions: Json, **more: Any) -> Any:
    status = {"observedGeneration": 2, "conditions": list(conditions)}
    metadata = {"name": "train-0-group", "namespace": "ml", "generation": 2}
    return {"metadata": metadata, "spec": {"cliqueNames": ["worker"]}, "status": status | more}


def seen(
    found: Json | None, *cliques: Json, groups: tuple[Json, ...] = (), uid: str = ""
) -> Report:
    def decoded(kind: type[T], body: Json) -> T:
        return msgspec.json.decode(msgspec.json.encode(body), type=kind)

    return report(
        Sight(
            name="train",
            set=decoded(PodCliqueSet, found) if found else None,
            cliques=[decoded(PodClique, one) for one in cliques],
            groups=[decoded(PodCliqueScalingGroup, one) for one in groups],
            uid=uid,
        )
    )


def progress(started: str = NOON, ended: str = "") -> Json:
    told = {"podCliqueSetGenerationHash": "new", "podTemplateHash": "h2"}
    return {"updateStartedAt": started, **({"updateEndedAt": ended} if ended else {}), **told}


@pytest.mark.parametrize(
    ("found", "cliques", "said"),
    [
        pytest.param(
            a_set(generation=3),
            [a_clique()],
            "the operator has yet to see generation 3",
            id="a change that nobody has seen",
        ),
        pytest.param(
            a_set(condition("Ready", "True", 1), observedGeneration=None),
            [a_clique()],
            "the operator has yet to see generation 2",
            id="a set that is new",
        ),
        pytest.param(
            a_set(UNREADY, UPDATING, observedGeneration=1, updateProgress=OPEN),
            [a_clique(updatedReplicas=1, updateProgress=progress())],
            "1 of 4 pods have the new template; Replica 0 is being updated",
            id="pods are being replaced",
        ),
        pytest.param(
            a_set(READY, UPDATING, observedGeneration=1, updateProgress=OPEN),
            [a_clique(), a_clique("train-1-worker", currentPodCliqueSetGenerationHash="old")],
            "4 of 8 pods have the new template; Replica 0 is being updated",
            id="another replica has its turn later, and knows only the old template",
        ),
        pytest.param(
            a_set(
                *(READY, UPDATING),
                observedGeneration=1,
                currentGenerationHash="old",
                updateProgress=OPEN | {"podCliqueSetGenerationHash": "new"},
            ),
            [
                a_clique(updatedReplicas=1, updateProgress=progress()),
                a_clique("train-1-worker", currentPodCliqueSetGenerationHash="old"),
            ],
            "1 of 8 pods have the new template; Replica 0 is being updated",
            id="not all that may have the new template has it",
        ),
        pytest.param(
            a_set(READY, UPDATING, observedGeneration=1, currentGenerationHash="old"),
            [a_clique(currentPodCliqueSetGenerationHash="old")],
            "Replica 0 is being updated",
            id="no PodClique has been handed anything",
        ),
        pytest.param(
            a_set(READY, observedGeneration=1, updateProgress=OPEN),
            [a_clique(updatedReplicas=3)],
            "3 of 4 pods have the new template; an update is being rolled out",
            id="an operator without the condition",
        ),
        pytest.param(
            a_set(UNREADY, observedGeneration=1),
            [a_clique()],
            "waiting for PodClique train-0-worker",
            id="children are being made",
        ),
        pytest.param(
            a_set(UNREADY, updateProgress=ENDED, availableReplicas=0, updatedReplicas=0),
            [a_clique()],
            "waiting for PodClique train-0-worker",
            id="updated and not available",
        ),
        pytest.param(
            a_set(UNREADY, observedGeneration=1, strategy=ON_DELETE),
            [a_clique(updatedReplicas=1)],
            "waiting for PodClique train-0-worker",
            id="OnDelete before all PodCliques have the template",
        ),
        pytest.param(
            a_set(strategy=ON_DELETE, updateProgress=ENDED),
            [a_clique(observedGeneration=1)],
            "PodClique train-0-worker has yet to count its pods",
            id="OnDelete before a PodClique has counted",
        ),
        pytest.param(
            a_set(strategy=ON_DELETE, updateProgress=ENDED),
            [a_clique(currentPodTemplateHash="h1")],
            "PodClique train-0-worker has yet to count its pods",
            id="OnDelete before one has counted whose labels alone have changed",
        ),
    ],
)
def test_it_waits_and_says_for_what(found: Json, cliques: list[Json], said: str) -> None:
    assert seen(found, *cliques) == Report(Verdict.WAITS, said)


@pytest.mark.parametrize(
    ("found", "cliques", "said"),
    [
        pytest.param(
            a_set(updateProgress=ENDED),
            [a_clique(updateProgress=progress(NOON, LATER))],
            "train: all 4 pods have the current template",
            id="an update has ended",
        ),
        pytest.param(
            a_set(), [a_clique()], "train: all 4 pods have the current template", id="none ever was"
        ),
        pytest.param(
            a_set(),
            [a_clique(), a_clique("train-0-old", metadata={"deletionTimestamp": LATER})],
            "train: all 4 pods have the current template",
            id="what goes is not counted",
        ),
        pytest.param(a_set(), [], "train: no pods are wanted", id="nothing is asked for"),
        pytest.param(
            a_set(strategy=ON_DELETE, updateProgress=ENDED),
            [a_clique()],
            "train: all 4 pods have the current template",
            id="OnDelete, and everybody is done",
        ),
        pytest.param(
            a_set(UNREADY, strategy=ON_DELETE, availableReplicas=0),
            [a_clique()],
            "train: all 4 pods have the current template",
            id="OnDelete does not wait for what is not available",
        ),
    ],
)
def test_it_is_done(found: Json, cliques: list[Json], said: str) -> None:
    assert seen(found, *cliques) == Report(Verdict.DONE, said)


def test_with_on_delete_it_is_done_with_pods_left_and_says_how_to_find_them() -> None:
    found = seen(
        a_set(strategy=ON_DELETE, updateProgress=ENDED),
        a_clique("train-0-a", updatedReplicas=1),
        a_clique("train-0-b"),
        a_clique(
            "train-0-c",
            updatedReplicas=0,
            metadata={"annotations": {"trellis.dev/template-hash-aliases": "{}"}},
        ),
    )
    told = "train: 5 of 12 pods have the current template; OnDelete leaves the rest"
    chosen = "grove.io/podclique=train-0-a,grove.io/pod-template-hash!=h2"
    assert found == Report(
        Verdict.DONE,
        told,
        (
            f"train-0-a: 1 of 4; the others: kubectl -n ml get pods -l '{chosen}'",
            "train-0-c: 0 of 4",
        ),
    )


def test_not_more_podcliques_are_named_than_fit_a_screen() -> None:
    behind = [a_clique(f"train-{n}-w", updatedReplicas=0) for n in range(MOST_NAMED + 3)]
    found = seen(a_set(strategy=ON_DELETE), *behind)
    assert len(found.details) == MOST_NAMED + 1
    assert found.details[-1] == "and 3 more PodCliques"


STUCK = condition("Stalled", "True", reason="Refused", message="spec.x is invalid")
LATE = condition(
    "UpdateInProgress", "True", reason="ProgressDeadlineExceeded", message="Nothing has moved"
)
ROLLING = a_set(UNREADY, UPDATING, observedGeneration=1, updateProgress=OPEN)


@pytest.mark.parametrize(
    ("found", "parts", "said"),
    [
        pytest.param(None, {}, "train was deleted before it was rolled out", id="gone"),
        pytest.param(
            a_set(), {"uid": "other"}, "train was deleted before it was rolled out", id="another"
        ),
        pytest.param(a_set(deleted=True), {}, "train is being deleted", id="going"),
        pytest.param(a_set(READY, STUCK), {}, "train: Refused: spec.x is invalid", id="stalled"),
        pytest.param(
            ROLLING,
            {"cliques": [a_clique("train-0-w", LATE, updateProgress=progress())]},
            "train: PodClique train-0-w: ProgressDeadlineExceeded: Nothing has moved",
            id="a PodClique past its deadline",
        ),
        pytest.param(
            ROLLING,
            {"groups": (a_group(LATE, updateProgress=progress()),)},
            "train: PodCliqueScalingGroup train-0-group: ProgressDeadlineExceeded: "
            "Nothing has moved",
            id="a scaling group past its deadline",
        ),
        pytest.param(
            ROLLING,
            {"cliques": [a_clique("train-0-w", STUCK, updateProgress=progress())]},
            "train: PodClique train-0-w: Refused: spec.x is invalid",
            id="a PodClique that is stalled while it is updated",
        ),
        pytest.param(
            a_set(UNREADY, observedGeneration=1),
            {"cliques": [a_clique("train-0-w", STUCK)]},
            "train: PodClique train-0-w: Refused: spec.x is invalid",
            id="a PodClique that is stalled from the beginning",
        ),
    ],
)
def test_it_has_failed(found: Json | None, parts: Json, said: str) -> None:
    rest = dict(parts)
    cliques = rest.pop("cliques", [])
    assert seen(found, *cliques, **rest) == Report(Verdict.FAILED, said)


@pytest.mark.parametrize(
    ("found", "clique"),
    [
        pytest.param(
            a_set(UNREADY, condition("Stalled", "True", 1), UPDATING, observedGeneration=1),
            a_clique(),
            id="a set that was stalled before it was changed",
        ),
        pytest.param(
            ROLLING,
            a_clique("train-0-w", LATE, updateProgress=progress(BEFORE)),
            id="a deadline of an update that was superseded",
        ),
        pytest.param(
            ROLLING,
            a_clique("train-0-w", LATE, updateProgress=progress(), metadata={"generation": 3}),
            id="a deadline of a template that the PodClique no longer has",
        ),
        pytest.param(
            ROLLING,
            a_clique("train-1-w", STUCK, updateProgress=progress(BEFORE, NOON)),
            id="a PodClique that waits for its turn, stalled with the old template",
        ),
        pytest.param(
            ROLLING,
            a_clique("train-0-w", condition("Stalled", "False"), updateProgress=progress()),
            id="a PodClique that goes on",
        ),
    ],
)
def test_what_an_older_template_failed_at_is_no_failure_of_this_one(
    found: Json, clique: Json
) -> None:
    assert seen(found, clique).verdict is Verdict.WAITS
