# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.api.config import OperatorConfiguration, load
from trellis.app.local.operating import Ports, at_loopback, default_configuration
from trellis.app.manifests.configuration import file_of

PORTS = Ports(webhooks=1001, health=1002, metrics=1003)


def test_it_listens_on_loopback_alone_whatever_is_configured() -> None:
    asked = load(
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
        "server: {webhooks: {bindAddress: 0.0.0.0, port: 443, secretName: mine}}\n"
    ).configuration
    servers = at_loopback(asked, PORTS).server
    listening = (servers.webhooks, servers.health_probes, servers.metrics)
    assert [(one.bind_address, one.port) for one in listening] == [
        ("127.0.0.1", 1001),
        ("127.0.0.1", 1002),
        ("127.0.0.1", 1003),
    ]
    assert servers.webhooks.secret_name == "mine", "the rest is the user's"


def test_what_is_written_for_it_can_be_read_by_it_without_a_warning() -> None:
    configuration = at_loopback(default_configuration(OperatorConfiguration()), PORTS)
    loaded = load(file_of(configuration))
    assert loaded.configuration == configuration
    assert not loaded.warnings
    assert [level.domain for level in configuration.topology.levels] == [
        "zone",
        "block",
        "rack",
        "host",
    ]
