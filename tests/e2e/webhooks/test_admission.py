# SPDX-License-Identifier: Apache-2.0
"""The admission server under a real API server: what users see, and certificates that change."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.webhooks.registration import (
    CANARY,
    Configurations,
    SecretStore,
    beside,
    registered,
    until_called,
)
from tests.e2e.webhooks.serving import CLOCK, LOOPBACK, SUBJECT, Serving, serving
from tests.support.api import Answer, Request
from tests.support.waiting import eventually
from trellis.webhooks import custody
from trellis.webhooks.custodian import Custodian, StoredIdentity
from trellis.webhooks.identity import fingerprints
from trellis.webhooks.reload import Reloader
from trellis.webhooks.review import Operation
from trellis.webhooks.rotation import POLICY, Policy
from trellis.webhooks.verdict import ALLOWED, Allowed, Cause, Denied, Verdict, invalid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api
    from tests.support.cluster import Cluster
    from trellis.webhooks.review import Review

PROTECTED = "trellis.dev/protected"
DEFAULTED = "trellis.dev/defaulted-by"
# Months in seconds: the API server checks every certificate by its own clock.
HASTE = Policy(
    leaf_life=timedelta(seconds=15),
    authority_life=timedelta(seconds=30),
    overlap=timedelta(seconds=4),
)
GLANCE_SECONDS = 0.2


def default(review: Review) -> Verdict:
    """Gives a size where there is none, and says so."""
    config_map = review.new()
    if CANARY in config_map.get("metadata", {}).get("labels", {}):
        return Allowed(warnings=(f"{CANARY} seen",))
    if review.operation is Operation.DELETE or "size" in config_map.setdefault("data", {}):
        return ALLOWED
    config_map["data"]["size"] = "1"
    config_map["metadata"].setdefault("annotations", {})[DEFAULTED] = "a/b~c"
    return Allowed(object=config_map, warnings=("data.size was\nnot given: 1 is assumed",))


def validate(review: Review) -> Verdict:
    if review.operation is Operation.DELETE:
        labels = review.old()["metadata"].get("labels", {})
        return Denied(message=f"{review.name} is protected") if PROTECTED in labels else ALLOWED
    config_map = review.new()
    if CANARY in config_map["metadata"].get("labels", {}):
        return Denied(message="a canary", code=418)
    size = config_map["data"]["size"]
    if size == "explode":
        raise ValueError(size)
    if not size.isascii() or not size.isdigit():
        return invalid(Cause(field="data.size", message=f"must be a number, and is {size!r}"))
    return ALLOWED


ROUTES = {"/default": default, "/validate": validate}


@dataclass(frozen=True, kw_only=True)
class Admission:
    """A server with certificates of its own making, registered for one namespace."""

    api: Api
    namespace: str
    serving: Serving
    custodian: Custodian
    reloader: Reloader
    store: SecretStore
    configurations: Configurations

    async def create(self, name: str, *, dry: bool = False, **data: str) -> Answer:
        body = {"metadata": {"name": name}, **({"data": data} if data else {})}
        path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        query = {"dryRun": "All"} if dry else {}
        return await self.api.send(Request(method="POST", path=path, body=body, query=query))


@asynccontextmanager
async def admission(api: Api, namespace: str, policy: Policy) -> AsyncIterator[Admission]:
    async with (
        serving(ROUTES) as served,
        registered(api, namespace, f"https://{LOOPBACK}:{served.server.port}") as configurations,
    ):
        store = SecretStore(api, namespace)
        custodian = Custodian(store, configurations, subject=SUBJECT, clock=CLOCK, policy=policy)
        source = StoredIdentity(store)
        reloader = Reloader(source, served.certificate, CLOCK, served.metrics)
        await custodian.converge()
        await reloader.refresh()
        assert served.server.why_not_ready() == ""
        await until_called(api, namespace)
        yield Admission(
            api=api,
            namespace=namespace,
            serving=served,
            custodian=custodian,
            reloader=reloader,
            store=store,
            configurations=configurations,
        )


@pytest.fixture
async def ours(cluster: Cluster, namespace: str) -> AsyncIterator[Admission]:
    if not cluster.ours:
        pytest.skip("the API server of a foreign cluster cannot call this machine")
    async with admission(cluster.api, namespace, POLICY) as made:
        yield made


def manifest(name: str, **data: str) -> str:
    lines = "".join(f"  {key}: {value!r}\n" for key, value in data.items())
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{lines or '  a: b'}\n"
    )


async def test_a_patch_and_a_warning_reach_the_user(ours: Admission, cluster: Cluster) -> None:
    said = await cluster.kubectl("apply", "-n", ours.namespace, "-f", "-", stdin=manifest("plain"))
    assert said == "Warning: data.size was not given: 1 is assumed\nconfigmap/plain created\n"
    path = f"/api/v1/namespaces/{ours.namespace}/configmaps/plain"
    stored = await ours.api.do("GET", path)
    assert stored["data"] == {"a": "b", "size": "1"}
    assert stored["metadata"]["annotations"][DEFAULTED] == "a/b~c"
    count = ours.serving.count(
        "reviews_total", path="/default", operation="CREATE", verdict="patched"
    )
    assert count == 1


async def test_an_object_that_is_complete_is_stored_as_it_is(ours: Admission) -> None:
    answer = await ours.create("whole", size="3")
    assert (answer.status, answer.body["data"]) == (201, {"size": "3"})
    assert "Warning" not in answer.headers


async def test_a_refusal_names_object_field_and_value(ours: Admission, cluster: Cluster) -> None:
    said = await cluster.kubectl(
        "apply", "-n", ours.namespace, "-f", "-", stdin=manifest("odd", size="big"), check=False
    )
    assert said == ("The ConfigMap \"odd\" is invalid: data.size: must be a number, and is 'big'\n")
    answer = await ours.create("odd", size="big")
    assert answer.status == 422
    assert answer.body["reason"] == "Invalid"
    assert answer.body["message"] == (
        'admission webhook "validating.trellis.dev" denied the request: '
        "data.size: must be a number, and is 'big'"
    )
    assert answer.body["details"] == {
        "name": "odd",
        "kind": "ConfigMap",
        "causes": [
            {
                "field": "data.size",
                "message": "must be a number, and is 'big'",
                "reason": "FieldValueInvalid",
            }
        ],
    }


async def test_a_deletion_is_refused_by_what_is_stored(ours: Admission, cluster: Cluster) -> None:
    await ours.create("kept", size="1")
    await cluster.kubectl("label", "configmap", "kept", f"{PROTECTED}=true", "-n", ours.namespace)
    said = await cluster.kubectl("delete", "configmap", "kept", "-n", ours.namespace, check=False)
    assert said == (
        'Error from server (Forbidden): admission webhook "validating.trellis.dev" denied the '
        "request: kept is protected\n"
    )
    await cluster.kubectl("label", "configmap", "kept", f"{PROTECTED}-", "-n", ours.namespace)
    await cluster.kubectl("delete", "configmap", "kept", "-n", ours.namespace)


async def test_a_handler_that_fails_is_a_failure_with_the_uid_of_its_review(
    ours: Admission,
) -> None:
    answer = await ours.create("bad", size="explode")
    assert answer.status == 500
    assert "the webhook /validate failed (review " in answer.body["message"]
    assert "ValueError" not in answer.body["message"]
    failed = ours.serving.count(
        "reviews_total", path="/validate", operation="CREATE", verdict="failed"
    )
    assert failed == 1


async def test_a_bundle_that_somebody_emptied_is_filled_and_reviews_go_on(
    ours: Admission,
) -> None:
    before = await ours.configurations.read()
    assert await ours.configurations.publish(before, b"")
    assert (await ours.configurations.read()).bundles == (b"", b"")
    await ours.custodian.converge()
    assert (await ours.configurations.read()).bundles == before.bundles

    async def answered() -> bool:
        return (await ours.create("after", dry=True, size="1")).status == 201

    await eventually(answered, "the API server to trust us again")


@dataclass
class Seen:
    """What was in use while the load ran."""

    reviews: int = 0
    failures: list[Any] = field(default_factory=list)
    leaves: set[str] = field(default_factory=set)
    signers: list[str] = field(default_factory=list)


async def load(ours: Admission, seen: Seen) -> None:
    while True:
        answer = await ours.create("load", dry=True)
        seen.reviews += 1
        if answer.status != 201 or answer.body["data"] != {"size": "1"}:
            seen.failures.append(answer.body)
        await asyncio.sleep(0.01)


async def rotated(ours: Admission, seen: Seen) -> bool:
    """Whether the first authority has come and gone everywhere. Notes what is there on the way."""
    ledger = custody.decode((await ours.store.read()).data).ledger
    assert ledger.leaf
    seen.leaves.add(str(ledger.leaf.issued_at))
    if ledger.leaf.authority not in seen.signers:
        seen.signers.append(ledger.leaf.authority)
    bundles = [fingerprints(bundle) for bundle in (await ours.configurations.read()).bundles]
    return all(seen.signers[0] not in bundle for bundle in bundles)


async def test_certificates_rotate_under_load_without_a_failed_review(
    cluster: Cluster, namespace: str
) -> None:
    if not cluster.ours:
        pytest.skip("the API server of a foreign cluster cannot call this machine")
    seen = Seen()
    async with (
        admission(cluster.api, namespace, HASTE) as ours,
        beside(
            ours.custodian.run(ours.serving.metrics, GLANCE_SECONDS),
            ours.reloader.run(GLANCE_SECONDS),
            *(load(ours, seen) for _ in range(3)),
        ),
    ):
        await eventually(lambda: rotated(ours, seen), "a whole rotation", patience=90)
        reviews = seen.reviews

        async def some_more() -> bool:
            return seen.reviews >= reviews + 50

        await eventually(some_more, "reviews after the rotation")
        assert ours.serving.count("certificate_failures_total") == 0
        assert ours.serving.server.ready()
    assert seen.failures == []
    assert seen.reviews >= 300
    assert len(seen.leaves) >= 3
    assert len(seen.signers) == 2
    print(f"{seen.reviews} reviews, {len(seen.leaves)} leaves, {len(seen.signers)} authorities")
