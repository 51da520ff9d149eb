# SPDX-License-Identifier: Apache-2.0
"""`trellis operator` where it cannot work: it says why in one line, and neither spins nor hangs."""

from __future__ import annotations

import asyncio
import json
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.app.operators import Ended, a_configuration, a_kubeconfig, free_ports, operator
from tests.support.loopback import Heard, http, loopback, server_tls
from tests.support.waiting import eventually
from trellis.runtime.contact import PATIENCE_SECONDS
from trellis.webhooks.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.loopback import Reply

# A process that spins computes all the time; starting Python and reading our code is a few seconds
# on a slow machine.
SPINNING_SECONDS = PATIENCE_SECONDS / 2
BAD_CONFIGURATION = 2


def answering(content: bytes) -> Reply:
    async def reply(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(content)

    return reply


async def hanging(_: Heard, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


UNAUTHORIZED = {"kind": "Status", "apiVersion": "v1", "code": 401, "reason": "Unauthorized"}
PAGE = http(200, b"<html>It works!</html>", **{"content-type": "text/html"})


async def started(folder: Path, kubeconfig: Path, config: Path | None = None) -> Ended:
    """An operator that ends by itself."""
    settings = config or a_configuration(folder, free_ports())
    async with operator(folder, "--config", settings, "--kubeconfig", kubeconfig) as one:
        return await one.ended()


def assert_one_line(ended: Ended, said: str, code: int = 1) -> None:
    assert ended.code == code, ended.lines
    (line,) = ended.lines
    assert line.startswith("trellis: ")
    assert said in line
    assert "a-token-of-ours" not in line
    assert ended.cpu < SPINNING_SECONDS


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(
            answering(http(401, UNAUTHORIZED)),
            "refuses our credentials (401); renew the token or certificate",
            id="refuses the token",
        ),
        pytest.param(answering(PAGE), "is no Kubernetes API", id="answers with a page"),
        pytest.param(answering(b"SSH-2.0-x\r\n"), "does not speak HTTP", id="speaks no HTTP"),
        pytest.param(
            answering(http(200, b'{"a":' * 100_000)), "nested too deeply", id="answers in the deep"
        ),
    ],
)
async def test_a_server_that_is_none_of_ours_ends_the_start_at_once(
    tmp_path: Path, reply: Reply, said: str
) -> None:
    async with loopback(reply) as server:
        ended = await started(tmp_path, a_kubeconfig(tmp_path, server.url))
    assert_one_line(ended, said)
    assert server.url in ended.lines[0]
    assert len(server.heard) == 1


async def test_a_server_that_nobody_vouches_for_ends_the_start_at_once(tmp_path: Path) -> None:
    tls = server_tls(Authority.create("somebody", datetime.now(UTC)), "127.0.0.1")
    async with loopback(hanging, tls) as server:
        ended = await started(tmp_path, a_kubeconfig(tmp_path, server.url))
    assert_one_line(ended, "its certificate is not trusted (")
    assert "check the certificate authority" in ended.lines[0]


async def test_a_server_without_tls_ends_the_start_at_once(tmp_path: Path) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(http(400))
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ended = await started(tmp_path, a_kubeconfig(tmp_path, address))
    assert_one_line(ended, "check whether its address is http:// or https://")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "there is no such file; write a kubeconfig there", id="missing"),
        pytest.param("{", "is no YAML of a kubeconfig", id="no YAML"),
        pytest.param("current-context: there\n", "there is no context 'there'", id="no context"),
    ],
)
async def test_a_kubeconfig_that_names_no_server_ends_the_start_at_once(
    tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "kubeconfig"
    if content is not None:
        file.write_text(content)
    ended = await started(tmp_path, file)
    assert_one_line(ended, said)
    assert str(file) in ended.lines[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("kind: [", "line 1, column 8", id="no YAML"),
        pytest.param("a: &a [*a]", "line 1", id="an alias of itself"),
        pytest.param(
            "apiVersion: operator.config.grove.io/v1alpha1\n"
            "kind: OperatorConfiguration\nlogLevel: 0000:17:00.0\n",
            "logLevel: '0000:17:00.0' is not allowed; use one of debug, info, error",
            id="an address of PCI is text",
        ),
    ],
)
async def test_a_configuration_that_is_wrong_ends_the_start_at_once(
    tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    ended = await started(tmp_path, tmp_path / "kubeconfig", file)
    assert_one_line(ended, said, BAD_CONFIGURATION)
    assert str(file) in ended.lines[0]


async def test_a_port_that_is_taken_ends_the_start_at_once(tmp_path: Path) -> None:
    ports = free_ports()
    async with loopback(hanging) as server:
        taken = int(server.url.rpartition(":")[2])
        servers = {**ports.servers, "metrics": {"bindAddress": "127.0.0.1", "port": taken}}
        config = a_configuration(tmp_path, ports, server=servers)
        ended = await started(tmp_path, a_kubeconfig(tmp_path, server.url), config)
    said = f"server.metrics: cannot listen on 127.0.0.1:{taken}: Address already in use"
    assert_one_line(ended, said)


def nowhere() -> str:
    """Where nobody listens."""
    return f"http://127.0.0.1:{free_ports().health}"


async def given_up(folder: Path, server: str, said: str) -> None:
    folder.mkdir()
    ended = await started(folder, a_kubeconfig(folder, server))
    *logged, last = ended.lines
    assert ended.code == 1
    assert last.startswith(f"trellis: {server}")
    assert said in last
    assert last.endswith("gave up after 30 s: check the server's address, and that it runs")
    assert [json.loads(line)["event"] for line in logged] == ["no contact with the server"]
    assert ended.cpu < SPINNING_SECONDS


async def test_a_server_that_is_not_there_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    away = "cannot be reached: "
    async with loopback(hanging) as silent:
        await asyncio.gather(
            given_up(tmp_path / "refused", nowhere(), away),
            given_up(tmp_path / "unknown", "https://no-such-host.invalid:6443", away),
            given_up(tmp_path / "silent", silent.url, "no complete answer within 5 s"),
        )


async def test_while_it_waits_probes_are_answered_and_a_signal_ends_it_well(tmp_path: Path) -> None:
    ports, server = free_ports(), nowhere()
    config, kubeconfig = a_configuration(tmp_path, ports), a_kubeconfig(tmp_path, server)
    async with operator(tmp_path, "--config", config, "--kubeconfig", kubeconfig) as one:

        async def told() -> Any:
            return f"not ready: server: {server} cannot be reached: " in await one.why_not_ready(
                ports
            )

        await eventually(told, "readiness to name the server")
        one.send(signal.SIGTERM)
        assert (await one.ended()).code == 0
