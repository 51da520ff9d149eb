# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from tests.support.yamls import documents
from trellis.api.config.types import Authorizer, OperatorConfiguration
from trellis.app.local.installing import called_at, shipped
from trellis.app.manifests.bundle import COMPONENTS, INSTALL
from trellis.app.manifests.installation import Installation

DEPLOY = Path(__file__).parents[4] / "deploy"
DEFAULTS = OperatorConfiguration()
# What runs the operator inside a cluster, and what is only there for that.
LEFT_OUT = {
    "ConfigMap",
    "Deployment",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Service",
}


def test_it_is_what_is_shipped_without_what_would_run_the_operator_there() -> None:
    everything = documents((DEPLOY / INSTALL).read_text())
    found = shipped(Installation(), DEFAULTS)
    assert found == [one for one in everything if one["kind"] not in LEFT_OUT]
    assert {one["kind"] for one in everything} - {one["kind"] for one in found} == LEFT_OUT


def test_the_webhook_of_the_authorizer_is_there_where_the_configuration_enables_it() -> None:
    component = documents((DEPLOY / COMPONENTS / "authorizer" / "webhooks.yaml").read_text())
    asked = OperatorConfiguration(authorizer=Authorizer(enabled=True))
    assert shipped(Installation(), asked) == [*shipped(Installation(), DEFAULTS), *component]
    assert [one["metadata"]["name"] for one in component] == ["authorizer-webhook"]


def test_webhooks_can_be_called_where_there_are_no_services() -> None:
    configurations = [one for one in shipped(Installation(), DEFAULTS) if "webhooks" in one]
    assert configurations
    for configuration in configurations:
        called = called_at(configuration, 4711)["webhooks"]
        for before, after in zip(configuration["webhooks"], called, strict=True):
            path = before["clientConfig"]["service"]["path"]
            assert after["clientConfig"] == {"url": f"https://127.0.0.1:4711{path}"}
            assert {**before, "clientConfig": 0} == {**after, "clientConfig": 0}
    other = {"kind": "Namespace"}
    assert called_at(other, 1) is other
