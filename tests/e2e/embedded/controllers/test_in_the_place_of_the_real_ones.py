# SPDX-License-Identifier: Apache-2.0
"""Our controllers on a real API server, in the place of the real ones: the goldens still hold.

The lab is started without the controllers that ours stand for; then the probes are run that were
recorded with the real ones.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from tests.conformance import goldens
from tests.conformance.runner import all_probes, run
from tests.support.api import Api, new_session
from tests.support.cluster import LAB
from tests.support.virtual import dice
from trellis.embedded.controllers.means import Options
from trellis.embedded.controllers.run import MANAGER, controllers
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.client import Client
from trellis.kube.connect import find_access
from trellis.kube.network import Network
from trellis.lab.build import built
from trellis.lab.cluster import Place, running
from trellis.lab.components import CONTROLLER_MANAGER, Settings
from trellis.lab.source import source
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from trellis.lab.cluster import Lab

# The service accounts stay with the real one: the lab waits for them before anybody else comes.
REPLACED = (
    "clusterrole-aggregation-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourceclaim-controller",
    "root-ca-certificate-publisher-controller",
    "ttl-after-finished-controller",
)
AREAS = ("dra", "eviction", "garbage_collection", "kube_controllers", "kube_jobs", "namespaces")
_HASH = "its ReplicaSets are called by another hash: the real one is of Go's dump of the template"
KNOWN = {
    "kube_controllers: a Deployment makes a ReplicaSet with its hash and revision, and is "
    "Available when ready": _HASH,
    "kube_controllers: a change of a Deployment's template makes a second ReplicaSet and scales "
    "the first down": _HASH,
}
SEED = 7


@pytest.fixture
async def lab(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Lab]:
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("needs a lab of its own")
    binary = built(source(request.config.getoption("--kubernetes")))
    off = ",".join(f"-{name}" for name in REPLACED)
    flags = {CONTROLLER_MANAGER: (f"--controllers=*,{off}",)}
    settings = Settings(kubernetes=binary.kubernetes, flags=flags)
    async with (
        running(binary, settings, Place(kubeconfig=tmp_path / "kubeconfig")) as started,
        AsyncExitStack() as stack,
    ):
        clock = SystemClock()
        access = find_access(Surroundings(clock=clock, environ={}), file=started.kubeconfig)
        network = Network(access)
        stack.push_async_callback(network.close)
        client = Client(network, clock, dice(1), manager=MANAGER)
        stop = asyncio.Event()
        env = Env(clock=clock, rng=client.rng)
        working = asyncio.create_task(controllers(client, env, stop, Options(root_ca="PEM")))
        yield started
        assert not working.done(), working.exception()
        stop.set()
        await working


@pytest.mark.timeout(300)
async def test_what_was_recorded_with_the_real_ones_holds_with_ours(lab: Lab) -> None:
    chosen = [entry for entry in all_probes() if entry.area in AREAS]
    recorded = goldens.read("1.36")
    async with new_session() as session:
        api = Api(session=session, server=lab.server, tls=lab.tls, token=lab.token)
        seen = await run(api, chosen, SEED)
    problems = {
        key: outcome.broken or goldens.difference(recorded[key], outcome.observations)
        for key, outcome in seen.items()
        if key not in KNOWN
    }
    wrong = [f"{key}\n{problem}" for key, problem in problems.items() if problem]
    assert not wrong, "\n\n".join(wrong)
