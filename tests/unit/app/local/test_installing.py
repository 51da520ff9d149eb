# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from tests.support.yamls import documents
from trellis.app.local.installing import called_at, shipped
from trellis.app.manifests.bundle import INSTALL
from trellis.app.manifests.installation import Installation

DEPLOY = Path(__file__).parents[4] / "deploy"
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
    found = shipped(Installation())
    assert found == [one for one in everything if one["kind"] not in LEFT_OUT]
    assert {one["kind"] for one in everything} - {one["kind"] for one in found} == LEFT_OUT


def test_webhooks_can_be_called_where_there_are_no_services() -> None:
    configurations = [one for one in shipped(Installation()) if "webhooks" in one]
    assert configurations
    for configuration in configurations:
        called = called_at(configuration, 4711)["webhooks"]
        for before, after in zip(configuration["webhooks"], called, strict=True):
            path = before["clientConfig"]["service"]["path"]
            assert after["clientConfig"] == {"url": f"https://127.0.0.1:4711{path}"}
            assert {**before, "clientConfig": 0} == {**after, "clientConfig": 0}
    other = {"kind": "Namespace"}
    assert called_at(other, 1) is other
