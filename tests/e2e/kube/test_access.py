# SPDX-License-Identifier: Apache-2.0
"""Every way to log in, and what happens when it ends."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube.conftest import client_by
from tests.e2e.kube.kinds import (
    CONFIG_MAPS,
    FLOW_SCHEMAS,
    PRIORITY_LEVELS,
    ROLE_BINDINGS,
    SERVICE_ACCOUNTS,
    ConfigMap,
    Seen,
    a_config_map,
)
from tests.support.waiting import eventually
from trellis.api.meta import Resource
from trellis.kube import errors, watch
from trellis.kube.inflight import START
from trellis.kube.transport import Request
from trellis.kube.verbs import merge_patch
from trellis.lab.components import CONTROLLER_MANAGER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.e2e.kube.conftest import As
    from tests.support.cluster import Cluster
    from trellis.kube.client import Client

WHO_AM_I = Resource(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)


async def who(client: Client) -> dict[str, Any]:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await client.of(WHO_AM_I, dict).create(body)
    found: dict[str, Any] = answer["status"]["userInfo"]
    return found


async def test_a_client_certificate_logs_in(cluster: Cluster) -> None:
    if not cluster.lab:
        pytest.skip("needs a certificate that only a lab gives away")
    async with client_by(cluster.lab.folder / f"{CONTROLLER_MANAGER}.kubeconfig") as client:
        assert (await who(client))["username"] == f"system:{CONTROLLER_MANAGER}"


async def test_a_program_logs_in(cluster: Cluster, client_as: As, tmp_path: Path) -> None:
    token = cluster.api.token
    script = tmp_path / "login.sh"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "{{\\"apiVersion\\":\\"$VERSION\\",\\"status\\":{{\\"token\\":\\"{token}\\"}}}}"\n'
    )
    script.chmod(0o700)
    version = "client.authentication.k8s.io/v1"
    plugin = {
        "apiVersion": version,
        "command": "./login.sh",
        "interactiveMode": "Never",
        "env": [{"name": "VERSION", "value": version}],
    }
    async with client_as(exec=plugin) as client:
        assert (await who(client))["username"] == "admin"


async def test_another_user_is_impersonated(client_as: As) -> None:
    user = {"as": "jane", "as-groups": ["g1", "g2"], "as-user-extra": {"example.com/a": ["b"]}}
    async with client_as(keep=True, **user) as client:
        found = await who(client)
    assert found["username"] == "jane"
    assert {"g1", "g2"} <= set(found["groups"])
    assert found["extra"] == {"example.com/a": ["b"]}


async def test_a_wrong_token_is_refused_and_not_shown(client_as: As) -> None:
    async with client_as(token="hunter2hunter2") as client:
        with pytest.raises(errors.Unauthorized) as raised:
            await who(client)
    assert "hunter2" not in str(raised.value)


async def test_nobody_may_do_little(client_as: As, namespace: str) -> None:
    async with client_as() as client:
        with pytest.raises(errors.Forbidden, match="system:anonymous"):
            await client.of(CONFIG_MAPS, ConfigMap, namespace).list()


async def let_edit(client: Client, namespace: str, subject: dict[str, str]) -> None:
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "editor"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "edit"},
        "subjects": [{**subject, "namespace": namespace}],
    }
    with suppress(errors.AlreadyExists):
        await client.of(ROLE_BINDINGS, dict, namespace).create(binding)


async def granted(client: Client, namespace: str) -> str:
    """A service account that may edit its namespace, and a token of it."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker"}}
    await client.of(SERVICE_ACCOUNTS, dict, namespace).create(account)
    await let_edit(client, namespace, {"kind": "ServiceAccount", "name": "worker"})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    accounts = client.of(SERVICE_ACCOUNTS, dict, namespace)
    token: str = (await accounts.create_in("worker", "token", request))["status"]["token"]
    return token


async def test_a_revoked_account_stops_everything_until_its_token_is_renewed(
    client: Client, client_as: As, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream outlives the account that opened it; short ones are soon refused.
    monkeypatch.setattr(watch, "LIFETIME", (1.0, 1.0))
    file = tmp_path / "token"
    file.write_text(await granted(client, namespace))
    seen = Seen()
    async with client_as(tokenFile=str(file)) as worker:
        maps = worker.of(CONFIG_MAPS, ConfigMap, namespace)
        await eventually(lambda: allowed(maps.create(a_config_map("a"))), "the role to be known")
        async with maps.watch() as watching:
            reading = asyncio.create_task(seen.follow(watching))
            await eventually(lambda: _has(seen, "a"), "the watch to begin")
            await client.of(SERVICE_ACCOUNTS, dict, namespace).delete("worker")
            await eventually(lambda: refused(maps.list()), "the revocation")
            with pytest.raises(errors.Unauthorized):
                await maps.create(a_config_map("b"))
            await eventually(lambda: _refused(watching), "the watch to be refused")
            file.write_text(await granted(client, namespace))
            await eventually(lambda: allowed(maps.create(a_config_map("c"))), "the new token")
            await eventually(lambda: _has(seen, "c"), "the watch to go on", patience=60)
            reading.cancel()
            await asyncio.wait({reading})


async def _refused(watching: watch.Watch[ConfigMap]) -> bool:
    return isinstance(watching.trouble, errors.Unauthorized)


async def _has(seen: Seen, name: str) -> bool:
    return name in seen.state


async def allowed(call: Any) -> bool:
    try:
        await call
    except (errors.Forbidden, errors.Unauthorized):
        return False
    except errors.AlreadyExists:
        return True
    return True


async def refused(call: Any) -> bool:
    try:
        await call
    except errors.Unauthorized:
        return True
    return False


@dataclass(frozen=True, slots=True)
class Level:
    name: str
    schema: str
    """The uid of the flow schema that leads to it."""


@asynccontextmanager
async def starved(client: Client, user: str) -> AsyncIterator[Level]:
    """A priority level for one user, which lets one request through at a time."""
    version = "flowcontrol.apiserver.k8s.io/v1"
    name = f"starved-{user}"
    limited = {
        "nominalConcurrencyShares": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Reject"},
    }
    level = {
        "apiVersion": version,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name},
        "spec": {"type": "Limited", "limited": limited},
    }
    everything = {
        "verbs": ["*"],
        "apiGroups": ["*"],
        "resources": ["*"],
        "namespaces": ["*"],
        "clusterScope": True,
    }
    schema = {
        "apiVersion": version,
        "kind": "FlowSchema",
        "metadata": {"name": name},
        "spec": {
            "priorityLevelConfiguration": {"name": name},
            "matchingPrecedence": 2,
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": user}}],
                    "resourceRules": [everything],
                }
            ],
        },
    }
    await client.of(PRIORITY_LEVELS, dict).create(level)
    made = await client.of(FLOW_SCHEMAS, dict).create(schema)
    try:
        yield Level(name, made["metadata"]["uid"])
    finally:
        await client.of(FLOW_SCHEMAS, dict).delete(name)
        await client.of(PRIORITY_LEVELS, dict).delete(name)


async def test_a_throttled_user_slows_down_and_gets_through_in_the_end(
    cluster: Cluster, client: Client, client_as: As, namespace: str
) -> None:
    if cluster.embedded:
        pytest.skip("an embedded cluster has no priority and fairness: it pushes nobody back")
    name = f"user-{namespace}"
    group = "rbac.authorization.k8s.io"
    await let_edit(client, namespace, {"kind": "User", "name": name, "apiGroup": group})
    async with client_as(keep=True, **{"as": name}) as slow, starved(client, name) as level:
        maps = slow.of(CONFIG_MAPS, ConfigMap, namespace)
        await eventually(lambda: _counted_as(slow, level), "the server to know of the level")
        writing: list[asyncio.Task[ConfigMap]] = []

        async def pushed_back() -> bool:
            """A server that is quick, or slow to learn of the level, may let some of them pass."""
            if all(task.done() for task in writing):
                bodies = [a_config_map(f"m{len(writing) + number}") for number in range(START)]
                writing.extend(asyncio.create_task(maps.create(body)) for body in bodies)
            return slow.gate.window.limit < START

        await eventually(pushed_back, "the server to push back")
        more = {"spec": {"limited": {"nominalConcurrencyShares": 50}}}
        await client.of(PRIORITY_LEVELS, dict).patch(level.name, merge_patch(more))
        made = await asyncio.gather(*writing)
    assert {each.metadata.name for each in made} == {f"m{n}" for n in range(len(writing))}
    assert slow.gate.under_way == 0


async def _counted_as(client: Client, level: Level) -> bool:
    request = Request(method="GET", path="/api/v1/namespaces", timeout=10)
    headers = (await client.transport.request(request)).headers
    return headers.get("x-kubernetes-pf-flowschema-uid") == level.schema
