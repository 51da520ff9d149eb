# SPDX-License-Identifier: Apache-2.0
"""The topology controller on the cluster under test, with no more rights than it declares."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.waiting import eventually
from trellis.api.permissions import Grant
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.runtime.env import Env
from trellis.runtime.process import Group, Process, Settings
from trellis.topology.grants import GRANTS
from trellis.topology.guard import Operator
from trellis.topology.reconciler import clustertopology

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tests.support.api import Api
    from tests.support.cluster import Cluster
    from trellis.api.config.types import Topology

RBAC = "rbac.authorization.k8s.io"
ROLES = f"/apis/{RBAC}/v1/clusterroles"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ACCOUNT = "grove-operator"
# What every controller's recorder of events needs.
EVENTS = Grant(group="events.k8s.io", resources=("events",), verbs=("create", "patch"))
ENOUGH = (*GRANTS, EVENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A service account for the operator, and its own view of the API."""

    operator: Operator
    token: str
    kubeconfig: Path
    api: Api

    async def allow(self, admin: Api, grants: Sequence[Grant]) -> None:
        """Gives it just these rights, and returns when it has them."""
        role = f"{ROLES}/{self.operator.namespace}"
        await admin.do("PATCH", role, {"rules": [_rule(grant) for grant in grants]}, patch="merge")
        for grant in grants:
            await eventually(partial(self._may, grant), f"{grant} to take effect")

    async def _may(self, grant: Grant) -> bool:
        resource, _, part = grant.resources[0].partition("/")
        asked = {
            "group": grant.group,
            "resource": resource,
            "subresource": part,
            "verb": grant.verbs[0],
            "name": grant.names[0] if grant.names else "",
        }
        review = {"spec": {"resourceAttributes": asked}}
        answer: bool = (await self.api.do("POST", REVIEWS, review))["status"]["allowed"]
        return answer


@asynccontextmanager
async def account(cluster: Cluster, namespace: str, folder: Path) -> AsyncIterator[Account]:
    """With all the rights that the controller declares, for the length of a block."""
    admin = cluster.api
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    await admin.do("POST", accounts, {"metadata": {"name": ACCOUNT}})
    issued = await admin.do("POST", f"{accounts}/{ACCOUNT}/token", {"spec": {}})
    token = issued["status"]["token"]
    named = {"metadata": {"name": namespace}}
    await admin.do("POST", ROLES, {**named, "rules": []})
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": namespace}
    await admin.do("POST", BINDINGS, {**named, "roleRef": reference, "subjects": [subject]})
    made = Account(
        operator=Operator(namespace=namespace, service_account=ACCOUNT),
        token=token,
        kubeconfig=_kubeconfig(cluster, token, folder),
        api=admin.with_token(token),
    )
    try:
        await made.allow(admin, ENOUGH)
        yield made
    finally:
        await admin.do("DELETE", f"{BINDINGS}/{namespace}")
        await admin.do("DELETE", f"{ROLES}/{namespace}")


@dataclass(frozen=True, slots=True)
class Running:
    env: Env

    def runs(self) -> float:
        """How often the controller has looked and found nothing left to do."""
        labels = {"controller": "clustertopology", "outcome": "done"}
        return self.env.meter.value("trellis_reconcile_total", **labels) or 0.0


@asynccontextmanager
async def operator(who: Account, configured: Topology) -> AsyncIterator[Running]:
    """The controller in this process, for the length of a block."""
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ=os.environ), file=who.kubeconfig)
    env = Env(clock=clock, rng=Random())  # noqa: S311
    settings = Settings(reporter="trellis.dev/operator", instance="test", whole_process=False)
    stop = asyncio.Event()
    async with connected(access, clock, env.rng) as client:
        controller = clustertopology(configured, clock)
        process = Process(client, [Group(controllers=(controller,))], env, settings)
        running = asyncio.create_task(process.run(stop))
        try:
            yield Running(env)
        finally:
            stop.set()
            await running


def _kubeconfig(cluster: Cluster, token: str, folder: Path) -> Path:
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    file = folder / "operator.kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


def _rule(grant: Grant) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "apiGroups": [grant.group],
        "resources": list(grant.resources),
        "verbs": list(grant.verbs),
    }
    return {**rule, "resourceNames": list(grant.names)} if grant.names else rule
