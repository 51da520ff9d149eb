# SPDX-License-Identifier: Apache-2.0
"""The cluster that tests run against: a lab or an embedded one started for them, or one that a
kubeconfig names."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import ssl
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.api import Api, Request, new_session
from tests.support.embedded import Embedded, embedded
from tests.support.waiting import eventually
from trellis.lab.build import built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LAB = "lab"
EMBEDDED = "embedded"
OURS = (LAB, EMBEDDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster and its admin. `lab` or `embedded` is set when it was started for the tests."""

    api: Api
    kubeconfig: Path
    kubectl_program: Path
    version: str
    lab: Lab | None = None
    embedded: Embedded | None = None

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])

    @property
    def ours(self) -> bool:
        """Whether it was started for the tests, and may be changed as a whole."""
        return self.lab is not None or self.embedded is not None

    def failed(self) -> Exception | None:
        """What has ended or broken without being told to, in a cluster of ours."""
        found = self.lab or self.embedded
        return found.failed() if found else None

    async def until_established(self) -> None:
        """All definitions are served. kubectl gives up where one has no conditions at all yet."""

        async def established() -> bool:
            wait = ("wait", "--for=condition=Established", "crd", "--all")
            return "error" not in await self.kubectl(*wait, check=False)

        await eventually(established, "definitions to be established")

    async def kubectl(self, *arguments: str, stdin: str = "", check: bool = True) -> str:
        """Runs kubectl as the admin and returns what it printed; failing is an error if `check`."""
        environment = {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.kubeconfig.parent)}
        process = await asyncio.create_subprocess_exec(
            self.kubectl_program,
            *arguments,
            env={"PATH": os.environ["PATH"], **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate(stdin.encode())
        text = output.decode()
        assert not check or process.returncode == 0, f"kubectl {' '.join(arguments)}: {text}"
        return text


@asynccontextmanager
async def cluster(target: str, kubernetes: str | None = None) -> AsyncIterator[Cluster]:
    """`lab` starts one (of another release if asked), `embedded` too; else a kubeconfig's path."""
    if target == LAB:
        started = _lab(kubernetes)
    elif target == EMBEDDED:
        started = _embedded()
    else:
        started = _foreign(Path(target))
    async with started as found:
        yield found


@asynccontextmanager
async def _lab(kubernetes: str | None) -> AsyncIterator[Cluster]:
    binary = built(source(kubernetes))
    with tempfile.TemporaryDirectory() as folder:
        place = Place(kubeconfig=Path(folder) / "kubeconfig")
        async with (
            running(binary, Settings(kubernetes=binary.kubernetes), place) as lab,
            new_session() as session,
        ):
            api = Api(session=session, server=lab.server, tls=lab.tls, token=lab.token)
            yield Cluster(
                api=api,
                kubeconfig=lab.kubeconfig,
                kubectl_program=lab.kubectl,
                version=binary.kubernetes,
                lab=lab,
            )


@asynccontextmanager
async def _embedded() -> AsyncIterator[Cluster]:
    async with embedded() as started, new_session() as session:
        api = Api(session=session, server=started.server, tls=started.tls, token=started.token)
        yield Cluster(
            api=api,
            kubeconfig=started.kubeconfig,
            kubectl_program=_kubectl(),
            version=await _version(api),
            embedded=started,
        )


def _kubectl() -> Path:
    """The lab's own if it is built, or this machine's; without any, tests that need it fail."""
    try:
        return built(source(None)).kubectl
    except LabError:
        return Path(shutil.which("kubectl") or "kubectl")


async def _version(api: Api) -> str:
    answer = await api.send(Request(method="GET", path="/version"))
    said: str = answer.body["gitVersion"]
    return said.removeprefix("v")


@asynccontextmanager
async def _foreign(kubeconfig: Path) -> AsyncIterator[Cluster]:
    program = shutil.which("kubectl")
    if not program:
        raise RuntimeError("--cluster=KUBECONFIG needs kubectl on the PATH")
    async with new_session() as session:
        api = _api(kubeconfig, session)
        yield Cluster(
            api=api,
            kubeconfig=kubeconfig.absolute(),
            kubectl_program=Path(program),
            version=await _version(api),
        )


def _api(kubeconfig: Path, session: Any) -> Api:
    """An admin with a token or a client certificate; other ways to log in are kubectl's to know."""
    config = yaml.safe_load(kubeconfig.read_text())
    contexts = {entry["name"]: entry["context"] for entry in config["contexts"]}
    context = contexts[config["current-context"]]
    server = _named(config, "clusters", context["cluster"])["cluster"]
    user = _named(config, "users", context["user"])["user"]
    authority = _material(server, "certificate-authority", kubeconfig)
    tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
    certificate = _material(user, "client-certificate", kubeconfig)
    key = _material(user, "client-key", kubeconfig)
    if certificate and key:
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            tls.load_cert_chain(file.name)
    elif "token" not in user:
        raise RuntimeError(f"{kubeconfig}: its user has neither a token nor a client certificate")
    return Api(session=session, server=server["server"], tls=tls, token=user.get("token"))


def _named(config: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    return next(entry for entry in config[kind] if entry["name"] == name)


def _material(holder: dict[str, Any], name: str, kubeconfig: Path) -> bytes | None:
    if f"{name}-data" in holder:
        return base64.b64decode(holder[f"{name}-data"])
    return (kubeconfig.parent / holder[name]).read_bytes() if name in holder else None
