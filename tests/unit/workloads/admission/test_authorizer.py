# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.admission.builders import a_review, defaulted
from tests.unit.workloads.admission.corpus import a_set
from trellis.api.config.types import Authorizer
from trellis.api.core.pod import Pod
from trellis.api.core.service import Service
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.meta import Key, Resource
from trellis.webhooks.verdict import Allowed, Denied
from trellis.workloads.admission.authorizer import CLUSTER, Guard, authorizing
from trellis.workloads.admission.policy import Stored

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
OURS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "base"}
PODS, SERVICES, CLIQUES = (kind.resource for kind in (Pod, Service, PodClique))
ON = Authorizer(enabled=True, exempt_service_account_user_names=("exempt",))
HANDLE = authorizing(Guard(operator=OPERATOR, settings=ON))


def a_child(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "base-0", "namespace": "default", "labels": OURS, **metadata}}


def by(user: str, operation: str, resource: Resource = SERVICES, **more: Any) -> Any:
    documents = {
        "CREATE": (a_child(), None),
        "UPDATE": (a_child(labels={}), a_child()),
        "DELETE": (None, a_child()),
        "CONNECT": (None, None),
    }
    new, old = documents[operation]
    return a_review(
        operation,
        more.pop("new", new),
        more.pop("old", old),
        resource=resource,
        userInfo={"username": user},
        **more,
    )


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
@pytest.mark.parametrize("user", [OPERATOR, "exempt", *CLUSTER])
def test_who_keeps_things_going_may_change_them(user: str, operation: str) -> None:
    assert isinstance(HANDLE(by(user, operation, CLIQUES)), Allowed)


@pytest.mark.parametrize(
    "review",
    [
        pytest.param(by("ann", "CREATE", CLIQUES), id="makes one of our kinds in our name"),
        pytest.param(by("ann", "UPDATE"), id="takes our labels off"),
        pytest.param(by("ann", "UPDATE", PODS), id="changes a pod"),
        pytest.param(by("ann", "DELETE", CLIQUES), id="deletes a clique"),
        pytest.param(by("", "DELETE"), id="is nobody"),
        pytest.param(by(f"{OPERATOR}\n", "DELETE"), id="is almost the operator"),
    ],
)
def test_nobody_else_may_even_one_who(review: Any) -> None:
    verdict = HANDLE(review)
    assert isinstance(verdict, Denied)
    assert verdict.code == 403
    assert "is kept by the operator for PodCliqueSet 'base'" in verdict.message


@pytest.mark.parametrize(
    "review",
    [
        pytest.param(by("ann", "DELETE", PODS), id="pods are deleted, which updates them"),
        pytest.param(by("ann", "CONNECT", PODS), id="somebody looks inside"),
        pytest.param(by("ann", "UPDATE", CLIQUES, subResource="scale"), id="something is scaled"),
        pytest.param(by("ann", "DELETE", old=a_child(labels={})), id="it is not ours"),
    ],
)
def test_what_is_free_to_all(review: Any) -> None:
    verdict = HANDLE(review)
    assert (isinstance(verdict, Allowed), verdict.warnings) == (True, ())


def test_it_is_off_unless_it_is_configured() -> None:
    off = authorizing(Guard(operator=OPERATOR, settings=Authorizer()))
    assert isinstance(off(by("ann", "DELETE")), Allowed)


def guarded(**annotations: str) -> Any:
    document = a_set()
    document["metadata"]["annotations"] = annotations
    found = msgspec.json.decode(msgspec.json.encode(defaulted(document)), type=PodCliqueSet)
    stored = Stored(set_at={Key("default", "base"): found}.get)
    return authorizing(Guard(operator=OPERATOR, settings=ON, stored=stored))


def test_a_set_may_let_others_change_what_is_made_for_it() -> None:
    key = "grove.io/disable-managed-resource-protection"
    assert isinstance(guarded()(by("ann", "UPDATE")), Denied)
    assert isinstance(guarded(**{key: "yes"})(by("ann", "UPDATE")), Denied)
    assert isinstance(guarded(**{key: "true"})(by("ann", "UPDATE")), Allowed)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"app.kubernetes.io/managed-by": "grove-operator"}, "has no label"),
        (OURS | {"app.kubernetes.io/part-of": "gone"}, "'gone', which does not exist"),
    ],
)
def test_what_belongs_to_nobody_is_free_with_a_warning(labels: dict[str, str], why: str) -> None:
    verdict = guarded()(by("ann", "DELETE", old=a_child(labels=labels)))
    assert isinstance(verdict, Allowed)
    assert why in verdict.warnings[0]
