# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from trellis.kube.access import Surroundings
from trellis.kube.connect import find_access
from trellis.kube.credentials import Certificate, Identity
from trellis.kube.errors import BadConfig
from trellis.kube.exec_plugin import REST_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.kube.credentials import Credentials

V1 = "client.authentication.k8s.io/v1"
START = datetime(2026, 1, 1, tzinfo=UTC)


class HandClock:
    """A clock that is set by hand: programs run in real time."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class Plugin:
    """A program in a kubeconfig. What it is told and how often it ran is left in files."""

    folder: Path
    clock: HandClock

    terminal: bool = False

    def credentials(
        self, script: str, cluster: dict[str, Any] | None = None, **spec: Any
    ) -> Credentials:
        program = self.folder / "login.sh"
        program.write_text(f'#!/bin/sh\necho x >> "{self.folder}/runs"\n{script}\n')
        program.chmod(0o700)
        plugin = {"apiVersion": V1, "command": "./login.sh", "interactiveMode": "Never", **spec}
        config = {
            "clusters": [{"name": "c", "cluster": {"server": "https://c", **(cluster or {})}}],
            "users": [{"name": "u", "user": {"exec": plugin}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        file = self.folder / "config"
        file.write_text(yaml.safe_dump(config))
        around = Surroundings(clock=self.clock, environ=os.environ, terminal=self.terminal)
        return find_access(around, file=file).credentials

    @property
    def runs(self) -> int:
        return len((self.folder / "runs").read_text().split())


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path, HandClock())


def prints(status: dict[str, Any], version: str = V1) -> str:
    return f"echo '{json.dumps({'apiVersion': version, 'status': status})}'"


def token(value: str) -> Identity:
    return Identity((("Authorization", f"Bearer {value}"),))


async def test_what_it_prints_is_kept_until_it_expires(plugin: Plugin) -> None:
    expires = (plugin.clock.now() + timedelta(seconds=100)).isoformat()
    credentials = plugin.credentials(prints({"token": "t", "expirationTimestamp": expires}))
    assert await credentials.identity() == token("t")
    plugin.clock.seconds += 99
    await credentials.identity()
    assert plugin.runs == 1
    plugin.clock.seconds += 2
    await credentials.identity()
    assert plugin.runs == 2


async def test_what_does_not_expire_is_kept_for_good(plugin: Plugin) -> None:
    credentials = plugin.credentials(prints({"token": "t"}))
    await credentials.identity()
    plugin.clock.seconds += 10**6
    await credentials.identity()
    assert plugin.runs == 1


async def test_after_a_refusal_it_runs_again_but_not_for_every_request(plugin: Plugin) -> None:
    credentials = plugin.credentials(
        'echo "{\\"apiVersion\\":\\"' + V1 + '\\",'
        '\\"status\\":{\\"token\\":\\"t$(wc -l < $(dirname $0)/runs)\\"}}"'
    )
    first = await credentials.identity()
    assert await credentials.renewed(first) == first
    plugin.clock.seconds += REST_SECONDS
    second = await credentials.renewed(first)
    assert second != first
    assert await credentials.renewed(first) == second
    assert plugin.runs == 2


async def test_a_certificate_may_be_printed(plugin: Plugin) -> None:
    status = {"clientCertificateData": "chain", "clientKeyData": "key"}
    credentials = plugin.credentials(prints(status))
    assert await credentials.identity() == Identity((), Certificate(b"chain", b"key"))


async def test_it_is_told_what_it_asks_for(plugin: Plugin) -> None:
    tell = 'echo "$1 $SETTING $KUBERNETES_EXEC_INFO" > "$(dirname $0)/told"\n'
    credentials = plugin.credentials(
        tell + prints({"token": "t"}, "client.authentication.k8s.io/v1beta1"),
        {
            "certificate-authority-data": "eA==",
            "tls-server-name": "inside",
            "extensions": [
                {"name": "client.authentication.k8s.io/exec", "extension": {"audience": 7}}
            ],
        },
        apiVersion="client.authentication.k8s.io/v1beta1",
        interactiveMode=None,
        args=["--cluster=1"],
        env=[{"name": "SETTING", "value": "on"}],
        provideClusterInfo=True,
    )
    await credentials.identity()
    argument, setting, information = (plugin.folder / "told").read_text().split(" ", 2)
    assert (argument, setting) == ("--cluster=1", "on")
    assert json.loads(information) == {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://c",
                "certificate-authority-data": "eA==",
                "tls-server-name": "inside",
                "config": {"audience": 7},
            },
        },
    }


@pytest.mark.parametrize(
    ("mode", "terminal", "asks"),
    [
        pytest.param("Never", True, False, id="it never asks"),
        pytest.param("IfAvailable", True, True, id="it asks if somebody is there"),
        pytest.param("IfAvailable", False, False, id="and does not if nobody is"),
        pytest.param("Always", True, True, id="it always asks"),
    ],
)
async def test_it_is_told_whether_it_may_ask(
    plugin: Plugin, mode: str, terminal: bool, asks: bool
) -> None:
    plugin.terminal = terminal
    tell = 'echo "$KUBERNETES_EXEC_INFO" > "$(dirname $0)/told"\n'
    await plugin.credentials(tell + prints({"token": "t"}), interactiveMode=mode).identity()
    told = json.loads((plugin.folder / "told").read_text())
    assert told["spec"]["interactive"] is asks


async def test_a_program_that_is_not_there_is_named_with_the_hint(plugin: Plugin) -> None:
    credentials = plugin.credentials("", command="no-such-login", installHint="See example.com")
    with pytest.raises(BadConfig) as raised:
        await credentials.identity()
    assert str(raised.value) == (
        f"{plugin.folder}/config: users[u].user.exec: cannot run 'no-such-login'"
        " (No such file or directory): install it or put it on the PATH; See example.com"
    )


@pytest.mark.parametrize(
    ("script", "want"),
    [
        pytest.param("echo one >&2; echo two >&2; exit 3", "exit code 3: two", id="it fails"),
        pytest.param("exit 3", "ended with exit code 3", id="it fails without a word"),
        pytest.param("echo secret", "printed no ExecCredential", id="no JSON"),
        pytest.param(prints({"token": "t"}, "v9"), "answered in apiVersion 'v9'", id="a version"),
        pytest.param(prints({}), "must print a token, or a certificate", id="nothing"),
        pytest.param(
            prints({"clientCertificateData": "secret"}), "together with its key", id="half"
        ),
        pytest.param(prints({"token": "secret secret"}), "is no token", id="no token"),
        pytest.param("kill -9 $$", "ended with exit code -9", id="it is killed"),
    ],
)
async def test_what_goes_wrong_is_told_without_what_it_printed(
    plugin: Plugin, script: str, want: str
) -> None:
    with pytest.raises(BadConfig) as raised:
        await plugin.credentials(script).identity()
    assert str(raised.value).startswith(f"{plugin.folder}/config: users[u].user.exec: ")
    assert want in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_a_program_that_hangs_is_ended(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trellis.kube.exec_plugin.UNATTENDED_SECONDS", 0.1)
    credentials = plugin.credentials('echo $$ > "$(dirname $0)/pid"; exec sleep 600')
    with pytest.raises(BadConfig, match="did not finish within"):
        await credentials.identity()
    pid = int((plugin.folder / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
