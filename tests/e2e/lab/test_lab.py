# SPDX-License-Identifier: Apache-2.0
"""The lab starts whole, stops whole, and says who died."""

from __future__ import annotations

import os
import signal
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.api import Api, Request, new_session
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import API_SERVER, COMPONENTS, SCHEDULER, Settings
from trellis.lab.errors import ComponentFailed, NameTaken

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.lab.build import Binary


async def get(lab: Lab, path: str, token: str | None = None) -> tuple[int, object]:
    async with new_session() as session:
        api = Api(session=session, server=lab.server, tls=lab.tls, token=token or lab.token)
        answer = await api.send(Request(method="GET", path=path))
        return answer.status, answer.body


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_started_lab_is_ready_for_pods_and_a_stopped_one_leaves_nothing(
    binary: Binary, settings: Settings, root: Path, tmp_path: Path
) -> None:
    place = Place(root=root, kubeconfig=tmp_path / "mine" / "kubeconfig")
    async with running(binary, settings, place) as lab:
        pids = [lab.pid(component) for component in COMPONENTS]
        status, _ = await get(lab, "/api/v1/namespaces/default/serviceaccounts/default")
        assert status == 200
        user = yaml.safe_load(lab.kubeconfig.read_text())["users"][0]["user"]
        assert user == {"token": lab.token}
        assert stat.S_IMODE(lab.kubeconfig.stat().st_mode) == 0o600
    assert not any(alive(pid) for pid in pids)
    assert not lab.folder.exists()
    assert not lab.kubeconfig.exists()


async def test_two_labs_run_side_by_side_and_do_not_meet(
    binary: Binary, settings: Settings, root: Path
) -> None:
    place = Place(root=root)
    async with running(binary, settings, place) as one, running(binary, settings, place) as two:
        assert one.name != two.name
        assert (await get(one, "/api"))[0] == (await get(two, "/api"))[0] == 200
        # Neither the other's token nor its authority is any good here.
        assert (await get(two, "/api", token=one.token))[0] == 401
        with pytest.raises(NameTaken, match=one.name):
            Lab(binary, settings, replace(place, name=one.name))


async def test_a_component_that_dies_is_named_with_the_end_of_its_log(
    binary: Binary, settings: Settings, root: Path
) -> None:
    async with running(binary, settings, Place(root=root)) as lab:
        assert lab.failed() is None
        os.kill(lab.pid(SCHEDULER), signal.SIGKILL)
        failure = await lab.failure()
    assert failure.component == SCHEDULER
    assert f"{SCHEDULER} was killed by signal 9" in str(failure)
    assert f"{SCHEDULER}.log" in str(failure)
    assert lab.folder.exists(), "the logs of a failed lab stay until the next start"


async def test_a_component_that_cannot_start_is_named_with_what_it_said(
    binary: Binary, settings: Settings, root: Path
) -> None:
    wrong = replace(settings, flags={API_SERVER: ("--no-such-flag",)})
    with pytest.raises(ComponentFailed) as raised:
        async with running(binary, wrong, Place(root=root)):
            pass
    assert raised.value.component == API_SERVER
    assert "unknown flag: --no-such-flag" in str(raised.value)


async def test_objects_and_the_kubeconfig_survive_in_a_data_folder(
    binary: Binary, settings: Settings, root: Path, tmp_path: Path
) -> None:
    place = Place(root=root, data=tmp_path / "data")
    durable = replace(settings, durable=True)
    path = "/api/v1/namespaces"
    async with running(binary, durable, place) as first:
        async with new_session() as session:
            api = Api(session=session, server=first.server, tls=first.tls, token=first.token)
            await api.do("POST", path, {"metadata": {"name": "kept"}})
        before = first.kubeconfig.read_text()
        with pytest.raises(NameTaken, match="data"):
            Lab(binary, durable, place)
    async with running(binary, durable, place) as second:
        assert (await get(second, f"{path}/kept"))[0] == 200
        assert second.kubeconfig.read_text() == before


async def test_gates_apis_and_the_audit_log_are_there_when_asked_for(
    binary: Binary, settings: Settings, root: Path
) -> None:
    asked = replace(
        settings,
        audit=True,
        feature_gates=("OpenAPIEnums=false",),
        runtime_config=("resource.k8s.io/v1beta1=true",),
    )
    async with running(binary, asked, Place(root=root)) as lab:
        assert (await get(lab, "/apis/resource.k8s.io/v1beta1"))[0] == 200
        _, metrics = await get(lab, "/metrics")
        gate = [line for line in str(metrics).splitlines() if "OpenAPIEnums" in line]
        assert gate
        assert gate[0].endswith(" 0")
        await get(lab, "/api/v1/namespaces/default/pods/audited")
        assert "/api/v1/namespaces/default/pods/audited" in lab.audit_log.read_text()
