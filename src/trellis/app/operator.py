# SPDX-License-Identifier: Apache-2.0
"""The operator as one process: the chosen controllers, the webhooks, and what both stand on."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.api import durations
from trellis.app.certificates import bundle_publisher, secret_store
from trellis.app.definitions import Definitions
from trellis.app.manifests.installation import WEBHOOKS
from trellis.kube.inflight import Window
from trellis.runtime.contact import Contact
from trellis.runtime.election import LeaseName, Timing
from trellis.runtime.health import Address, Health
from trellis.runtime.process import Group, Process, Settings
from trellis.runtime.stopping import unless
from trellis.webhooks.certificates import Subject
from trellis.webhooks.custodian import Custodian, StoredIdentity
from trellis.webhooks.files import CertificateFiles
from trellis.webhooks.intake import Intake
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.reload import Reloader
from trellis.webhooks.server import AdmissionServer, Listen
from trellis.webhooks.tls import ServingCertificate

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from typing import Any

    from trellis.api.config.types import OperatorConfiguration, Server
    from trellis.app.wiring import Means, Part
    from trellis.runtime.health import Readiness
    from trellis.webhooks.custodian import Store
    from trellis.webhooks.identity import IdentitySource

REPORTER = "grove-operator"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class UnknownController(ValueError):
    """`--controllers` names something that does not exist."""


class CannotListen(Exception):
    """An address that was configured cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which parts this process runs, and whether it serves webhooks."""

    parts: tuple[Part, ...]
    webhooks: bool


def chosen(names: Sequence[str], known: Sequence[Part]) -> Choice:
    """The parts of these names; without any, everything."""
    available = [*(part.name for part in known), WEBHOOKS.name]
    for name in names:
        if name not in available:
            raise UnknownController(
                f"--controllers: {name!r} is not known; choose from {', '.join(available)}"
            )
    wanted = names or available
    return Choice(tuple(part for part in known if part.name in wanted), WEBHOOKS.name in wanted)


def window(configuration: OperatorConfiguration) -> Window:
    """How many requests may be under way at once."""
    requests = configuration.trellis.requests
    return Window(requests.initial_in_flight, requests.max_in_flight)


class Operator:
    """To be run once. `instance` tells this process from all others."""

    def __init__(self, means: Means, choice: Choice, known: Sequence[Part], instance: str) -> None:
        self._means = means
        self._choice = choice
        self._webhooks = [webhook for part in known for webhook in part.component.webhooks]
        self._routes = {
            path: handler for part in known for path, handler in part.handlers(means).items()
        }
        self._read = tuple(cache for part in known for cache in part.reads(means))
        self._instance = instance
        self._contact = Contact(means.client, means.server)
        self._definitions = Definitions(means.client, means.env.clock)
        self._metrics = Metrics(means.env.meter.registry, self._routes)

    async def run(self, stop: asyncio.Event) -> None:
        """Ends well some time after `stop` is set. Raises what broke, if something does."""
        server = self._admission() if self._choice.webhooks else None
        process = Process(
            self._means.client, [self._group()], self._means.env, self._settings(server)
        )
        async with AsyncExitStack() as stack:
            await self._show(process.readiness, stack)
            if not await unless(stop, self._contact.make()):
                return
            for work in self._background(server):
                task = asyncio.create_task(work)
                stack.callback(task.cancel)
            if server is not None:
                await self._admit(server, stack)
            await process.run(stop)

    async def _show(self, readiness: Readiness, stack: AsyncExitStack) -> None:
        """Probes are answered from the first moment, so that readiness can say what is missing."""
        listening = self._means.configuration.server
        for name, where in (
            ("healthProbes", listening.health_probes),
            ("metrics", listening.metrics),
        ):
            shown = Health(_address(where), readiness, self._means.env.meter)
            with _named(name, where):
                await stack.enter_async_context(shown)

    async def _admit(self, server: _Admission, stack: AsyncExitStack) -> None:
        stack.push_async_callback(server.listener.stop)
        with _named("webhooks", self._means.configuration.server.webhooks):
            await server.listener.start()

    def _group(self) -> Group:
        controllers = tuple(
            controller
            for part in self._choice.parts
            for controller in part.controllers(self._means)
        )
        election = self._means.configuration.leader_election
        lease = LeaseName(
            namespace=election.resource_namespace or self._means.operator.namespace,
            name=election.resource_name,
            identity=self._instance,
        )
        leads = election.enabled and bool(controllers)
        return Group(controllers=controllers, lease=lease if leads else None)

    def _settings(self, server: _Admission | None) -> Settings:
        checks = {"server": self._contact.why_not, "definitions": self._definitions.why_not}
        if server is not None:
            listener = server.listener
            checks["webhooks"] = lambda: listener.why_not_ready() or None
        election = self._means.configuration.leader_election
        return Settings(
            reporter=REPORTER,
            instance=self._instance,
            timing=Timing(
                lease=round(_seconds(election.lease_duration)),
                renew=_seconds(election.renew_deadline),
                retry=_seconds(election.retry_period),
            ),
            checks=checks,
            reads=self._read if server is not None else (),
        )

    def _background(self, server: _Admission | None) -> list[Coroutine[Any, Any, Any]]:
        """What goes on beside the controllers. None of it raises for what it finds."""
        work: list[Coroutine[Any, Any, Any]] = [self._contact.keep(), self._definitions.run()]
        if self._provides_certificates:
            work.append(self._custodian().run(self._metrics))
        if server is not None:
            work.append(server.reloader.run())
        for part in self._choice.parts:
            work += part.beside(self._means)
        return work

    def _admission(self) -> _Admission:
        env, listen = self._means.env, self._means.configuration.server.webhooks
        certificate = ServingCertificate()
        intake = Intake(self._routes, clock=env.clock, metrics=self._metrics)
        where = Listen(host=listen.bind_address or None, port=listen.port)
        listener = AdmissionServer(intake, certificate, where, env.clock)
        reloader = Reloader(self._identity(), certificate, env.clock, self._metrics)
        return _Admission(listener, reloader)

    def _identity(self) -> IdentitySource:
        if self._provides_certificates:
            # Read from the API, not from the mounted Secret, which may lag by a minute.
            return StoredIdentity(self._store())
        folder = Path(self._means.configuration.server.webhooks.server_cert_dir)
        return CertificateFiles(
            certificate=folder / "tls.crt", key=folder / "tls.key", bundle=folder / "ca.crt"
        )

    def _custodian(self) -> Custodian:
        publisher = bundle_publisher(self._means.client, self._webhooks)
        subject = Subject(name=REPORTER, hosts=webhook_hosts(self._means))
        clock = self._means.env.clock
        return Custodian(self._store(), publisher, subject=subject, clock=clock)

    def _store(self) -> Store:
        secret = self._means.configuration.server.webhooks.secret_name
        return secret_store(self._means.client, self._means.operator.namespace, secret)

    @property
    def _provides_certificates(self) -> bool:
        return self._means.configuration.server.webhooks.cert_provision_mode == "auto"


@dataclass(frozen=True, slots=True)
class _Admission:
    listener: AdmissionServer
    reloader: Reloader


def webhook_hosts(means: Means) -> tuple[str, ...]:
    """By which names the API server calls us: the Service's, and loopback on a machine of one."""
    service = f"{REPORTER}.{means.operator.namespace}.svc"
    return (service, f"{service}.{means.configuration.trellis.cluster_domain}", *LOOPBACK)


def _address(server: Server) -> Address:
    return Address(server.bind_address or Address().host, server.port)


@contextmanager
def _named(name: str, where: Server) -> Iterator[None]:
    """Says what of the configuration is in the way when it cannot be listened on."""
    try:
        yield
    except OSError as error:
        address = _address(where)
        unknown = isinstance(error, socket.gaierror)
        problem = error.strerror if unknown else os.strerror(error.errno or 0)
        raise CannotListen(
            f"server.{name}: cannot listen on {address.host}:{address.port}:"
            f" {problem}; choose another port or address"
        ) from None


def _seconds(text: str) -> float:
    return durations.parse(text) / durations.SECOND
