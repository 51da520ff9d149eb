# SPDX-License-Identifier: Apache-2.0
"""What holds for any PodCliqueSet that anybody can write."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.workloads.admission.builders import a_review, defaulted, judged
from tests.unit.workloads.admission.corpus import a_clique
from trellis.api import names
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.api.syntax import dns_label_problem
from trellis.webhooks.review import Unfit
from trellis.webhooks.verdict import Allowed, Denied
from trellis.workloads.admission import defaults
from trellis.workloads.admission.podcliqueset import validating
from trellis.workloads.admission.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

# A set by its schema takes long to draw.
few = settings(max_examples=30, deadline=None)
unhurried = settings(deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
WORDS = st.sampled_from(["a", "b", "worker", "a-0-b", "", "A.B", "x" * 30]) | st.text(max_size=4)
# Of Kubernetes' own types, what we read: there are thousands of fields that we do not.
READ = {
    "podSpec": (
        "containers",
        "initContainers",
        "schedulerName",
        "nodeName",
        "restartPolicy",
        "hostname",
        "priorityClassName",
        "terminationGracePeriodSeconds",
        "topologySpreadConstraints",
    ),
    "containers": ("name", "image", "env"),
    "initContainers": ("name", "image", "env"),
    "env": ("name", "value"),
    "topologySpreadConstraints": (),
    "metrics": (),
    "templateSpec": ("spec",),
    "devices": ("requests",),
    "requests": (),
}


def fitting(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    """What passes a schema, leaving aside its rules across fields."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "object" and "properties" in schema:
        return _object(schema, name)
    if schema.get("type") == "array":
        return st.lists(fitting(schema["items"], name), max_size=3, unique_by=_identity(schema))
    return _simple(schema)


def _identity(schema: dict[str, Any]) -> Callable[[Any], Any]:
    """What the API server tells the items of a list apart by; of some, nothing."""
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if keys:
        return lambda item: tuple(item.get(key) for key in keys)
    return str if schema.get("x-kubernetes-list-type") == "set" else id


def _simple(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if schema.get("type") == "object":
        return st.dictionaries(WORDS, WORDS, max_size=2)
    if schema.get("type") == "integer":
        least = schema.get("minimum", -(1 << 31))
        return st.integers(least, 5) | st.integers(least, (1 << 31) - 1)
    if schema.get("type") == "boolean":
        return st.booleans()
    return st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else WORDS


def _object(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    wanted = READ.get(name, tuple(schema["properties"]))
    needed = tuple(schema.get("required", ()))
    parts = {
        key: fitting(schema["properties"][key], key)
        for key in dict.fromkeys((*needed, *wanted))
        if key in schema["properties"]
    }
    return st.fixed_dictionaries(
        {key: parts[key] for key in parts if key in needed},
        optional={key: parts[key] for key in parts if key not in needed},
    )


@cache
def specs() -> st.SearchStrategy[Any]:
    schema = definition(KINDS[0])["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return fitting(schema["properties"]["spec"], "spec")


def documents() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda name, spec: {"metadata": {"name": name}, "spec": spec}, WORDS, specs())


@unhurried
@given(JSON)
def test_defaulting_takes_whatever_stands_anywhere(anything: Any) -> None:
    for document in (
        {"metadata": anything, "spec": anything},
        {"spec": {"template": anything}},
        {"spec": {"template": {"cliques": anything, "podCliqueScalingGroups": anything}}},
        {"spec": {"template": {"cliques": [anything, {"name": anything, "spec": anything}]}}},
        {"spec": {"template": {"cliques": [{"name": "a", "spec": {"podSpec": anything}}]}}},
    ):
        defaults.fill(document, document)


@few
@given(st.deferred(documents), st.none() | st.deferred(documents))
def test_defaulting_twice_is_defaulting_once(
    new: dict[str, Any], old: dict[str, Any] | None
) -> None:
    once = defaulted(new, old)
    assert defaulted(once, old) == once


@few
@given(st.deferred(documents), st.none() | st.deferred(documents))
def test_whatever_fits_the_schema_gets_an_answer_that_can_be_sent(
    new: dict[str, Any], old: dict[str, Any] | None
) -> None:
    verdict = judged(new, old)
    assert isinstance(verdict, Allowed | Denied)
    if isinstance(verdict, Denied):
        assert all(cause.field and cause.message for cause in verdict.causes)
        assert len(verdict.message) < 100_000


@unhurried
@given(JSON, JSON)
def test_whatever_does_not_fit_it_is_refused_and_not_broken(new: Any, old: Any) -> None:
    review = a_review("UPDATE", {"metadata": {}, "spec": new}, {"metadata": {}, "spec": old})
    try:
        verdict = validating(Policy())(review)
    except Unfit as unfit:
        verdict = unfit.denied
    assert isinstance(verdict, Allowed | Denied)


@few
@given(st.deferred(documents), st.dictionaries(WORDS, WORDS, max_size=2))
def test_no_change_of_metadata_alone_is_ever_refused(
    stored: dict[str, Any], labels: dict[str, str]
) -> None:
    new = stored | {"metadata": {**stored["metadata"], "labels": labels, "finalizers": []}}
    assert isinstance(judged(new, stored), Allowed)


@few
@given(st.deferred(documents))
def test_whatever_is_stored_may_be_changed_elsewhere(document: dict[str, Any]) -> None:
    stored = defaulted(document)
    strategy = {"type": "OnDelete"}
    assume(stored["spec"].get("updateStrategy") != strategy)
    new = stored | {"spec": stored["spec"] | {"updateStrategy": strategy}}
    assert isinstance(judged(new, stored), Allowed)


PARTS = st.from_regex(r"[a-c0-2](-?[a-c0-2]){0,24}", fullmatch=True)
COUNTS = st.integers(1, 12)


@st.composite
def shaped(draw: st.DrawFn) -> dict[str, Any]:
    """A set whose names are long, or made to be mistaken for each other."""
    found = draw(st.lists(PARTS, min_size=1, max_size=4, unique=True))
    cliques = [a_clique(name, replicas=draw(COUNTS)) for name in found]
    grouped = found[: draw(st.integers(0, len(found) - 1))]
    template: dict[str, Any] = {"cliques": cliques}
    if grouped:
        group = {"name": draw(PARTS), "cliqueNames": grouped, "replicas": draw(COUNTS)}
        template["podCliqueScalingGroups"] = [group | {"minAvailable": 1}]
    spec = {"replicas": draw(COUNTS), "template": template}
    return {"metadata": {"name": draw(PARTS)}, "spec": spec}


def cliques_of(document: dict[str, Any]) -> list[tuple[str, int]]:
    """The full name of every PodClique, with its pods."""
    name, spec = document["metadata"]["name"], document["spec"]
    pods = {one["name"]: one["spec"]["replicas"] for one in spec["template"]["cliques"]}
    found = []
    groups = spec["template"].get("podCliqueScalingGroups", [])
    grouped = {member for group in groups for member in group["cliqueNames"]}
    for index in range(spec["replicas"]):
        found += [(names.clique(name, index, one), pods[one]) for one in pods if one not in grouped]
        for group in groups:
            full = names.scaling_group(name, index, group["name"])
            for replica, member in product(range(group["replicas"]), group["cliqueNames"]):
                found.append((names.member_clique(full, replica, member), pods[member]))
    return found


@unhurried
@given(shaped())
def test_what_is_admitted_has_legal_names_at_every_index_and_each_once(
    document: dict[str, Any],
) -> None:
    found = cliques_of(document)
    hosts = [names.hostname(name, index) for name, count in found for index in range(count)]
    legal = not any(map(dns_label_problem, hosts))
    verdict = judged(document)
    if isinstance(verdict, Allowed):
        assert legal
        assert len({name for name, _ in found}) == len(found)
    else:
        unique = len({name for name, _ in found}) == len(found)
        assert not (legal and unique), verdict.message
    cliques = [one["name"] for one in document["spec"]["template"]["cliques"]]
    groups = document["spec"]["template"].get("podCliqueScalingGroups", [])
    longest = max(map(len, cliques)) + sum(len(group["name"]) for group in groups)
    if len(document["metadata"]["name"]) + longest <= 45:
        assert legal, "what Grove's rule of 45 admits is never too long"
