# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from random import Random

import pytest

from tests.support.transport import MemoryTransport
from trellis.api.config import OperatorConfiguration
from trellis.api.config.types import Requests, Trellis
from trellis.app.definitions import outdated
from trellis.app.operator import UnknownController, chosen, webhook_hosts, window
from trellis.app.wiring import Means, parts
from trellis.instruments.clock import SystemClock
from trellis.kube.client import Client
from trellis.kube.inflight import Gate, Verdict
from trellis.runtime.env import Env
from trellis.topology.guard import Operator


@pytest.fixture
def means() -> Means:
    clock, rng = SystemClock(), Random(1)  # noqa: S311  not for secrets
    return Means(
        configuration=OperatorConfiguration(),
        client=Client(MemoryTransport(), clock, rng),
        server="https://there",
        env=Env(clock=clock, rng=rng),
        operator=Operator(namespace="grove-system", service_account="grove-operator"),
        waiter_image="registry.example/trellis:1",
    )


def test_every_declared_webhook_is_served_and_no_other(means: Means) -> None:
    for part in parts():
        declared = {webhook.path for webhook in part.component.webhooks}
        assert set(part.handlers(means)) == declared


def test_the_first_controller_of_a_part_is_called_what_its_component_is(means: Means) -> None:
    firsts = [part.controllers(means)[0].name for part in parts()]
    assert firsts == [part.name for part in parts()]


def test_controllers_of_one_process_share_their_caches(means: Means) -> None:
    made = [controller for part in parts() for controller in part.controllers(means)]
    caches = dict.fromkeys(cache for controller in made for cache in controller.caches)
    labels = [cache.label for cache in caches]
    assert len(labels) == len(set(labels))


ALL = ["clustertopology", "podcliqueset", "podcliquescalinggroup", "podgang", "podclique"]


@pytest.mark.parametrize(
    ("names", "controllers", "webhooks"),
    [
        pytest.param([], ALL, True, id="everything without a choice"),
        pytest.param(["webhooks"], [], True, id="webhooks alone"),
        pytest.param(["clustertopology"], ["clustertopology"], False, id="one controller alone"),
    ],
)
def test_only_what_was_chosen_runs(
    names: list[str], controllers: list[str], webhooks: bool
) -> None:
    choice = chosen(names, parts())
    assert ([part.name for part in choice.parts], choice.webhooks) == (controllers, webhooks)


def test_an_unknown_controller_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownController, match="'pods' is not known; choose from clustertopology"):
        chosen(["pods"], parts())


def test_as_many_requests_are_under_way_at_once_as_the_configuration_says() -> None:
    few = Trellis(requests=Requests(initial_in_flight=2, max_in_flight=3))
    gate = Gate(window(OperatorConfiguration(trellis=few)))
    assert gate.window.limit == 2
    for number in range(1, 50):
        gate.window.learn(Verdict.QUICK, ticket=number, newest=number, full=True)
    assert gate.window.limit == 3


def test_the_certificate_is_for_the_service_and_for_loopback(means: Means) -> None:
    assert webhook_hosts(means) == (
        "grove-operator.grove-system.svc",
        "grove-operator.grove-system.svc.cluster.local",
        "localhost",
        "127.0.0.1",
        "::1",
    )


@pytest.mark.parametrize(
    ("release", "own", "flawed"),
    [
        pytest.param("0.1.0", "0.1.0", False, id="its own"),
        pytest.param("0.10.0", "0.9.9", False, id="a newer one"),
        pytest.param("0.9.9", "0.10.0", True, id="an older one"),
        pytest.param("", "0.1.0", True, id="one without a release"),
        pytest.param("v2", "0.1.0", True, id="one that is no release of ours"),
    ],
)
def test_older_definitions_are_told_with_the_command_to_run(
    release: str, own: str, flawed: bool
) -> None:
    flaw = outdated("podcliques.grove.io", release, own)
    assert bool(flaw) == flawed
    assert not flaw or "trellis crds | kubectl apply -f -" in flaw
