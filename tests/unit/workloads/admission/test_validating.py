# SPDX-License-Identifier: Apache-2.0
"""What the webhook says by itself, where a test of Grove's or a person reads the words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import GOING, a_review, causes, fields, judged
from tests.unit.workloads.admission.corpus import a_clique, a_set, bad, changed
from tests.unit.workloads.admission.good import configured
from trellis.api.config.types import Limits, SchedulerProfile, Schedulers, Topology
from trellis.api.grove.clustertopology import TopologyLevel
from trellis.webhooks.hearing import Hearing
from trellis.webhooks.review import Unfit
from trellis.webhooks.verdict import ALLOWED, Allowed, Denied
from trellis.workloads.admission.podcliqueset import MOST_PROBLEMS, validating
from trellis.workloads.admission.policy import Policy

CLIQUE = "/spec/template/cliques/0"
DEPARTURE = "trellis.dev/replace-after-departure"
LONG = "x" * 55
STARTUP = "/spec/template/cliqueStartupType"
EXPLICIT = {STARTUP: "CliqueStartupTypeExplicit"}
TOPOLOGY = Policy(
    topology=Topology(
        enabled=True,
        levels=tuple(TopologyLevel(domain=one, key=one) for one in ("zone", "rack", "host")),
    )
)


def scheduled_by(name: str) -> Policy:
    return Policy(schedulers=Schedulers(profiles=(SchedulerProfile(name=name),)))


@pytest.mark.parametrize(
    ("at", "field", "words"),
    [
        pytest.param(
            {f"{CLIQUE}/spec/minAvailable": 9},
            "spec.template.cliques[0].spec.minAvailable",
            "Invalid value: 9: minAvailable must not be greater than replicas, 2; lower it to that",
            id="minAvailable",
        ),
        pytest.param(
            {**EXPLICIT, f"{CLIQUE}/spec/startsAfter": ["nobody"]},
            "spec.template.cliques[0].spec.startsAfter[0]",
            'Not found: "nobody": unknown clique names found, all clique dependencies must be '
            "defined as cliques",
            id="an unknown parent",
        ),
        pytest.param(
            {
                **EXPLICIT,
                f"{CLIQUE}/spec/startsAfter": ["helper"],
                "/spec/template/cliques/2/spec/startsAfter": ["leader"],
            },
            "spec.template.cliques[0].spec.startsAfter",
            'Invalid value: ["leader","helper","leader"]: clique must not have circular '
            "dependencies: leader waits for helper waits for leader; drop one of these",
            id="a ring",
        ),
        pytest.param(
            {"/metadata/name": LONG},
            "metadata.name",
            f"Invalid value: \"{LONG}\": the host name of the last pod of clique 'leader' would be "
            f"'{LONG}-0-leader-1', 3 more than the 63 characters allowed; "
            "shorten the names it is made of by 3",
            id="a name that is too long, whole",
        ),
        pytest.param(
            {f"{CLIQUE}/spec/podSpec/schedulerName": "mine"},
            "spec.template.cliques[0].spec.podSpec.schedulerName",
            'Invalid value: "mine": schedulerName must be an enabled scheduler backend; this '
            "scheduler is not enabled in OperatorConfiguration, which has default-scheduler",
            id="a scheduler nobody enabled",
        ),
        pytest.param(
            {"/spec/template/topologyConstraint": {"packDomain": "rack"}},
            "spec.template.topologyConstraint",
            "Forbidden: topology support is not enabled in the operator: topology constraints are "
            "not allowed when Topology Aware Scheduling is disabled; leave them out, or set "
            "clusterTopology.enabled",
            id="topology in the words of the seed and of Grove",
        ),
    ],
)
def test_a_refusal_names_field_value_and_remedy(at: dict[str, Any], field: str, words: str) -> None:
    assert (field, words) in causes(judged(changed(a_set(), at, [])))


def a_chain(length: int) -> dict[str, Any]:
    """Cliques that each wait for the one before."""
    cliques = [
        a_clique(f"c{index}", startsAfter=[f"c{index - 1}"] if index else [])
        for index in range(length)
    ]
    return {
        "metadata": {"name": "chain"},
        "spec": {
            "replicas": 1,
            "template": {"cliques": cliques, "cliqueStartupType": "CliqueStartupTypeExplicit"},
        },
    }


def a_crowd(startup: str, least: int, **after: list[str]) -> dict[str, Any]:
    """A scaling group of two cliques, of which so many start together, and a router after it."""
    cliques = [a_clique(name, replicas=1) for name in ("worker", "helper", "router")]
    for clique in cliques:
        clique["spec"]["startsAfter"] = after.get(clique["name"], [])
    group = {"name": "g", "cliqueNames": ["worker", "helper"], "replicas": least}
    template = {
        "cliques": cliques,
        "cliqueStartupType": startup,
        "podCliqueScalingGroups": [group | {"minAvailable": least}],
    }
    return {"metadata": {"name": "crowd"}, "spec": {"replicas": 1, "template": template}}


IN_TURN, AS_SAID = "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"
ROUTER = "spec.template.cliques[2].spec.startsAfter"


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param(a_crowd(IN_TURN, 256), [], id="in order, as many as can be"),
        pytest.param(
            a_crowd(IN_TURN, 257),
            ["spec.template.cliques[1]", "spec.template.cliques[2]"],
            id="in order, one more, within the group and after it",
        ),
        pytest.param(
            a_crowd("CliqueStartupTypeAnyOrder", 2000, router=["worker"]), [], id="in any order"
        ),
        pytest.param(a_crowd(AS_SAID, 256, router=["helper"]), [], id="explicitly"),
        pytest.param(
            a_crowd(AS_SAID, 129, router=["worker", "helper"]), [ROUTER], id="too many together"
        ),
        pytest.param(
            a_crowd(AS_SAID, 2000, worker=["router"]), [], id="many that wait for one are fine"
        ),
    ],
)
def test_a_clique_starts_after_no_more_podcliques_than_one_can_name(
    document: dict[str, Any], want: list[str]
) -> None:
    assert fields(judged(document)) == want


def test_who_starts_after_too_many_is_told_which_and_what_to_do() -> None:
    ((_, said),) = causes(judged(a_crowd(AS_SAID, 300, router=["worker"])))
    assert said == (
        "Invalid value: 300: clique 'router' would start after 300 PodCliques, and 256 are "
        "possible: one of each parent, and of a parent in a scaling group one for each of its "
        "minAvailable replicas; lower that, or start after fewer cliques"
    )


@pytest.mark.parametrize(
    ("document", "limits", "want"),
    [
        pytest.param(a_chain(32), Limits(), [], id="a chain as long as allowed"),
        pytest.param(a_chain(33), Limits(), ["spec.template.cliques"], id="a longer one"),
        pytest.param(a_chain(33), Limits(startup_depth=40), [], id="one that is allowed"),
        pytest.param(
            a_chain(3), Limits(cliques=2), ["spec.template.cliques"], id="too many cliques"
        ),
        pytest.param(
            a_set(),
            Limits(scaling_groups=1, pods_per_set=9),
            ["spec.replicas"],
            id="one pod too many",
        ),
        pytest.param(a_set(), Limits(pods_per_set=10), [], id="as many pods as allowed"),
    ],
)
def test_limits_are_those_of_the_configuration(
    document: dict[str, Any], limits: Limits, want: list[str]
) -> None:
    assert fields(judged(document, policy=Policy(limits=limits))) == want


@pytest.mark.parametrize(
    ("at", "want"),
    [
        pytest.param({"/spec/template/topologyConstraint": {"packDomain": "rack"}}, [], id="one"),
        pytest.param(
            {"/spec/template/topologyConstraint": {"packDomain": "block"}},
            ["spec.template.topologyConstraint.packDomain"],
            id="a level that is not there",
        ),
        pytest.param(
            {"/spec/template/topologyConstraint": {"pack": {"required": "block"}}},
            ["spec.template.topologyConstraint.pack.required"],
            id="the same in the other form",
        ),
        pytest.param(
            {
                "/spec/template/topologyConstraint": {"packDomain": "rack"},
                f"{CLIQUE}/topologyConstraint": {"packDomain": "host"},
            },
            [],
            id="narrower inside",
        ),
        pytest.param(
            {
                "/spec/template/topologyConstraint": {"packDomain": "rack"},
                f"{CLIQUE}/topologyConstraint": {"packDomain": "zone"},
            },
            ["spec.template.cliques[0].topologyConstraint.packDomain"],
            id="broader inside the set",
        ),
        pytest.param(
            {
                "/spec/template/podCliqueScalingGroups/0/topologyConstraint": {
                    "pack": {"preferred": "host"}
                },
                "/spec/template/cliques/1/topologyConstraint": {"pack": {"preferred": "rack"}},
            },
            ["spec.template.cliques[1].topologyConstraint.pack.preferred"],
            id="broader inside a group",
        ),
        pytest.param(
            {
                "/spec/template/topologyConstraint": {"topologyName": "a", "packDomain": "x"},
                f"{CLIQUE}/topologyConstraint": {"topologyName": "b", "packDomain": "y"},
            },
            ["spec.template.cliques[0].topologyConstraint.topologyName"],
            id="two topologies",
        ),
        pytest.param(
            {"/spec/template/topologyConstraint": {"topologyName": "a", "packDomain": "nvl"}},
            [],
            id="a topology that is not ours to know",
        ),
    ],
)
def test_topology(at: dict[str, Any], want: list[str]) -> None:
    assert fields(judged(changed(a_set(), at, []), policy=TOPOLOGY)) == want


def placed_by(scheduler: str, **more: Any) -> dict[str, Any]:
    at = {f"/spec/template/cliques/{n}/spec/podSpec/schedulerName": scheduler for n in range(3)}
    found: dict[str, Any] = changed(a_set(), at | more, [])
    return found


QUEUE = "scheduling.grove.io/volcano-queue"


@pytest.mark.parametrize(
    ("scheduler", "at", "want"),
    [
        pytest.param(
            "volcano",
            {
                "/metadata/annotations": {QUEUE: "a"},
                f"{CLIQUE}/annotations": {QUEUE: "b"},
            },
            [f"spec.template.cliques[0].annotations[{QUEUE}]"],
            id="Volcano with two queues",
        ),
        pytest.param(
            "volcano",
            {"/spec/template/topologyConstraint": {"packDomain": "rack"}},
            ["spec.template.topologyConstraint"],
            id="Volcano with a topology",
        ),
        pytest.param("volcano", {}, [], id="Volcano with its default queue"),
        pytest.param(
            "kai-scheduler",
            {"/metadata/annotations": {"kai.scheduler/queue": "q"}},
            [],
            id="KAI with a queue in an annotation",
        ),
    ],
)
def test_schedulers(scheduler: str, at: dict[str, Any], want: list[str]) -> None:
    policy = Policy(schedulers=scheduled_by(scheduler).schedulers, topology=TOPOLOGY.topology)
    assert fields(judged(placed_by(scheduler, **at), policy=policy)) == want


def test_pods_without_a_scheduler_have_the_default_one() -> None:
    names = (SchedulerProfile(name="kai-scheduler"),)
    policy = Policy(schedulers=Schedulers(profiles=names, default_profile_name="kai-scheduler"))
    assert fields(judged(a_set(), policy=policy)) == ["metadata.labels[kai.scheduler/queue]"]


def test_fabric_groups_are_allowed_where_fabric_is() -> None:
    document = changed(a_set(), {"/metadata/annotations": {"grove.io/mnnvl-group": "train"}}, [])
    assert fields(judged(document, policy=Policy(fabric=True))) == []


ODD = changed(a_set(), {f"{CLIQUE}/spec/podSpec/nodeName": "node-1", "/spec/replicas": 5000}, [])


@pytest.mark.parametrize(
    ("at", "want"),
    [
        pytest.param({f"{CLIQUE}/labels": {"a": "b"}}, [], id="something else is changed"),
        pytest.param({"/spec/replicas": 4000}, [], id="what is too much becomes less"),
        pytest.param({"/spec/replicas": 6000}, ["spec.replicas"] * 2, id="it becomes more"),
        pytest.param(
            {f"{CLIQUE}/spec/podSpec/nodeName": "node-2"},
            ["spec.template.cliques[0].spec.podSpec.nodeName"],
            id="what is wrong is changed",
        ),
        pytest.param(
            {"/spec/template/cliques/1/spec/podSpec/nodeName": "node-1"},
            ["spec.template.cliques[1].spec.podSpec.nodeName"],
            id="the same is wrong at another place too",
        ),
    ],
)
def test_what_was_stored_wrong_may_be_changed_elsewhere(
    at: dict[str, Any], want: list[str]
) -> None:
    assert fields(judged(changed(ODD, at, []), ODD)) == want


def test_cliques_that_were_stored_wrong_may_be_reordered() -> None:
    new = changed(ODD, {}, [])
    new["spec"]["template"]["cliques"].reverse()
    assert fields(judged(new, ODD)) == []


def test_a_stored_object_that_cannot_be_read_does_not_hold_up_one_that_can() -> None:
    old = changed(a_set(), {"/spec/replicas": "many"}, [])
    assert isinstance(judged(a_set(), old), Allowed)


@pytest.mark.parametrize(
    ("review", "why"),
    [
        pytest.param(a_review("DELETE", old=ODD), "it is deleted", id="deletion"),
        pytest.param(
            a_review("UPDATE", ODD | {"metadata": {"name": "base", "finalizers": []}}, ODD),
            "only its metadata changes",
            id="metadata alone, a finalizer among it",
        ),
        pytest.param(
            a_review("UPDATE", ODD | {"metadata": {"name": "b", **GOING}}, a_set()),
            "it is on its way out",
            id="on its way out",
        ),
        pytest.param(a_review("UPDATE", ODD, a_set(), subResource="status"), "", id="its status"),
    ],
)
def test_a_review_that_is_none_of_our_business_passes(review: Any, why: str) -> None:
    assert validating(Policy())(review) is ALLOWED, why


@pytest.mark.parametrize(
    ("at", "want"),
    [
        pytest.param(
            {f"{CLIQUE}/spec/startsAfter": ["worker"]}, "has no effect without", id="order"
        ),
        pytest.param(
            {"/spec/template/cliques/1/rollingUpdate": {"maxUnavailable": 1}},
            "has no effect in scaling group 'gang'",
            id="the budget of a member",
        ),
        pytest.param(
            {f"{CLIQUE}/spec/podSpec/hostname": "me"}, "names of their own", id="hostname"
        ),
        pytest.param(
            {f"{CLIQUE}/spec/podSpec/containers/0/env": [{"name": "GROVE_PCS_NAME"}]},
            "GROVE_PCS_NAME is for the operator to set",
            id="a variable of ours",
        ),
        pytest.param(
            {f"{CLIQUE}/labels": {"grove.io/podcliquescalinggroup": "mine"}},
            "cliques[0].labels[grove.io/podcliquescalinggroup]: has no effect: the operator sets",
            id="a label of ours",
        ),
        pytest.param(
            {f"{CLIQUE}/annotations": {"trellis.dev/priority-class": "mine"}},
            "cliques[0].annotations[trellis.dev/priority-class]: has no effect: the operator sets",
            id="a note of ours",
        ),
        pytest.param(
            {f"{CLIQUE}/annotations": {"trellis.dev/settle-time": "30s"}},
            "cliques[0].annotations[trellis.dev/settle-time]: has no effect here; "
            "set it on the PodCliqueSet, in metadata.annotations",
            id="a note for the whole set on a clique",
        ),
        pytest.param(
            {"/spec/template/podCliqueScalingGroups/0/annotations": {DEPARTURE: "true"}},
            f"podCliqueScalingGroups[0].annotations[{DEPARTURE}]: has no effect here; "
            "set it on the cliques of the group",
            id="a note for cliques on their group",
        ),
        pytest.param(
            {f"{CLIQUE}/annotations": {"trellis.dev/setle-time": "30s"}},
            "cliques[0].annotations[trellis.dev/setle-time]: has no effect here; remove it",
            id="a note of ours that is none",
        ),
        pytest.param(
            {"/metadata/name": "9lives"},
            "metadata.name: '9lives' begins with a digit",
            id="a name that Services may not have everywhere",
        ),
    ],
)
def test_what_is_likely_not_meant_is_warned_of(at: dict[str, Any], want: str) -> None:
    verdict = judged(changed(a_set(), at, []))
    assert isinstance(verdict, Allowed)
    (warning,) = verdict.warnings
    assert want in warning


@pytest.mark.parametrize(
    "key", [DEPARTURE, "example.com/note", "kubectl.kubernetes.io/restartedAt"]
)
def test_a_note_that_is_read_or_reaches_pods_is_not_warned_of(key: str) -> None:
    assert judged(changed(a_set(), {f"{CLIQUE}/annotations": {key: "true"}}, [])).warnings == ()


def test_a_preference_broader_than_what_is_required_is_warned_of() -> None:
    pack = {"pack": {"required": "rack", "preferred": "zone"}}
    document = changed(a_set(), {"/spec/template/topologyConstraint": pack}, [])
    (warning,) = judged(document, policy=TOPOLOGY).warnings
    assert "'zone' is broader than what is required, 'rack'" in warning


def test_new_numbers_for_what_exists_are_warned_of() -> None:
    at = {f"{CLIQUE}/spec/replicas": 3, "/spec/template/podCliqueScalingGroups/0/replicas": 3}
    verdict = judged(changed(a_set(), at, []), a_set())
    assert isinstance(verdict, Allowed)
    assert [warning.partition(":")[0] for warning in verdict.warnings] == [
        "spec.template.cliques[0].spec.replicas",
        "spec.template.podCliqueScalingGroups[0].replicas",
    ]


def test_warnings_and_causes_end_somewhere() -> None:
    cliques = [
        a_clique(f"c{index}", replicas=-1, startsAfter=["a"], minAvailable=1) for index in range(90)
    ]
    verdict = judged({"metadata": {"name": "a"}, "spec": {"template": {"cliques": cliques}}})
    assert isinstance(verdict, Denied)
    assert len(verdict.causes) == 51
    assert "more problems" in verdict.causes[-1].message
    assert len(verdict.warnings) == 11


def test_problems_without_number_are_not_all_looked_for() -> None:
    waiting = [f"x{index}" for index in range(256)]
    cliques = [a_clique(f"c{index}", startsAfter=waiting, minAvailable=1) for index in range(256)]
    template = {"cliques": cliques, "cliqueStartupType": EXPLICIT[STARTUP]}
    verdict = judged({"metadata": {"name": "a"}, "spec": {"template": template}})
    assert isinstance(verdict, Denied)
    assert verdict.causes[-1].message.startswith(f"and {MOST_PROBLEMS - 50} more problems")


@pytest.mark.parametrize("case", [one for one in bad() if "at" in one], ids=lambda one: one["case"])
def test_the_webhook_alone_answers_whatever_the_schema_would_have_refused(
    case: dict[str, Any],
) -> None:
    document = changed(a_set(), case["at"], case.get("drop", []))
    try:
        verdict = judged(document, policy=Policy.of(configured({})))
    except Unfit as unfit:
        verdict = unfit.denied
    assert isinstance(verdict, Allowed | Denied)
    assert len(repr(verdict)) < 400_000


def test_a_review_of_something_else_is_refused_and_not_broken() -> None:
    body = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1",'
    body += b'"operation":"CREATE","kind":{"kind":"x","version":"v1"},"resource":{"resource":"x",'
    body += b'"version":"v1"},"userInfo":{},"object":{"spec":7}}}'
    heard = Hearing(validating(Policy()), body).hear()
    assert heard.response.allowed is False
