# SPDX-License-Identifier: Apache-2.0
"""Credentials that a program prints: `exec` in a kubeconfig, for cloud and single sign-on logins.

What the program prints on standard output is a secret and never shown.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.kube.credentials import Certificate, Identity, bearer
from trellis.kube.errors import BadConfig, clipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.instruments.clock import Clock

INFO = "KUBERNETES_EXEC_INFO"
UNATTENDED_SECONDS = 60.0
# A person may have to find their telephone first.
ATTENDED_SECONDS = 600.0
# A server that refuses what the program prints would else have it run for every request.
REST_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run, in which environment. `where` names its place in the kubeconfig; `attended`
    says that somebody is there to be asked.
    """

    where: str
    command: str
    arguments: tuple[str, ...] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    api_version: str
    cluster: Mapping[str, Any] | None = None
    install_hint: str = ""
    attended: bool = False

    @property
    def information(self) -> str:
        spec: dict[str, Any] = {"interactive": self.attended}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        said = {"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}
        return msgspec.json.encode(said).decode()


class _Granted(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _Printed(msgspec.Struct, rename="camel"):
    api_version: str
    status: _Granted


class ExecPlugin:
    """Runs the program when it must, and keeps what it printed until that expires."""

    def __init__(self, program: Program, clock: Clock) -> None:
        self._program = program
        self._clock = clock
        self._running = asyncio.Lock()
        self._current: Identity | None = None
        self._expires: datetime | None = None
        self._ran_at = 0.0

    async def identity(self) -> Identity:
        async with self._running:
            return self._kept() or await self._run()

    async def renewed(self, refused: Identity) -> Identity:
        async with self._running:
            rested = self._clock.monotonic() - self._ran_at >= REST_SECONDS
            kept = self._kept()
            return await self._run() if kept is None or (kept == refused and rested) else kept

    def _kept(self) -> Identity | None:
        expired = self._expires is not None and self._clock.now() >= self._expires
        return None if expired else self._current

    async def _run(self) -> Identity:
        self._ran_at = self._clock.monotonic()
        printed = _read(await _output(self._program), self._program)
        self._current = _identity(printed.status, self._program.where)
        self._expires = printed.status.expiration_timestamp
        return self._current


async def _output(program: Program) -> bytes:
    piped = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            program.command,
            *program.arguments,
            env={**program.environment, INFO: program.information},
            stdin=None if program.attended else asyncio.subprocess.DEVNULL,
            stdout=piped,
            stderr=None if program.attended else piped,
        )
    except OSError as error:
        hint = f"; {clipped(program.install_hint)}" if program.install_hint else ""
        raise BadConfig(
            f"{program.where}: cannot run {program.command!r} ({error.strerror}):"
            f" install it or put it on the PATH{hint}"
        ) from None
    return await _finished(process, program)


async def _finished(process: asyncio.subprocess.Process, program: Program) -> bytes:
    seconds = ATTENDED_SECONDS if program.attended else UNATTENDED_SECONDS
    try:
        async with asyncio.timeout(seconds):
            output, complaints = await process.communicate()
    except TimeoutError:
        raise BadConfig(
            f"{program.where}: {program.command!r} did not finish within {seconds:.0f} s"
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        lines = (complaints or b"").decode(errors="replace").strip().splitlines()
        said = f": {clipped(lines[-1], 200)}" if lines else ""
        raise BadConfig(
            f"{program.where}: {program.command!r} ended with exit code {process.returncode}{said}"
        )
    return output


def _read(output: bytes, program: Program) -> _Printed:
    try:
        printed = msgspec.json.decode(output, type=_Printed)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise BadConfig(
            f"{program.where}: {program.command!r} printed no ExecCredential with a status"
        ) from None
    if printed.api_version != program.api_version:
        raise BadConfig(
            f"{program.where}: {program.command!r} answered in apiVersion"
            f" {clipped(printed.api_version, 80)!r} and not in {program.api_version!r},"
            " which the kubeconfig names"
        )
    return printed


def _identity(granted: _Granted, where: str) -> Identity:
    headers = bearer(granted.token, where) if granted.token else ()
    chain, key = granted.client_certificate_data.encode(), granted.client_key_data.encode()
    if bool(chain) != bool(key) or not (headers or chain):
        raise BadConfig(
            f"{where}: the program must print a token, or a certificate together with its key"
        )
    return Identity(headers, Certificate(chain, key) if chain else None)
