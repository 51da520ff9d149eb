# SPDX-License-Identifier: Apache-2.0
"""The configuration that is shipped, one file for each process, in a ConfigMap that never changes.

Its name tells its content, so that a change of the content is a change of the pods.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from trellis.api.config.types import (
    API_VERSION,
    KIND,
    LeaderElection,
    MetricsServer,
    OperatorConfiguration,
    ProbeServer,
    SchedulerProfile,
    Schedulers,
    Servers,
    WebhookServer,
)
from trellis.api.meta import to_builtins
from trellis.app.manifests.installation import PROCESSES, WEBHOOK_PORT
from trellis.app.manifests.render import document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation, Process

FOLDER = "/etc/grove-operator/config"
_HASH_LENGTH = 8


def configuration(process: Process) -> OperatorConfiguration:
    """As Grove's chart has it. What is not said here is the default."""
    return OperatorConfiguration(
        leader_election=LeaderElection(enabled=True),
        server=Servers(
            webhooks=WebhookServer(port=WEBHOOK_PORT),
            health_probes=ProbeServer(port=process.health),
            metrics=MetricsServer(port=process.metrics),
        ),
        scheduler=Schedulers(profiles=(SchedulerProfile(name="kai-scheduler"),)),
    )


def config_map(installation: Installation, processes: Iterable[Process] = PROCESSES) -> Manifest:
    files = {process.configuration: file_of(configuration(process)) for process in processes}
    digest = sha256("".join(files.values()).encode()).hexdigest()
    name = f"{installation.name}-cm-{digest[:_HASH_LENGTH]}"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": installation.namespaced(name, "configmap"),
        "immutable": True,
        "data": files,
    }


def file_of(content: OperatorConfiguration) -> str:
    """The text of a file that says so."""
    return document({"apiVersion": API_VERSION, "kind": KIND} | to_builtins(content))
