# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import PurePath

import pytest

from trellis.lab.components import (
    API_SERVER,
    COMPONENTS,
    CONTROLLER_MANAGER,
    ETCD,
    SCHEDULER,
    Layout,
    Ports,
    Settings,
    arguments,
)

LAYOUT = Layout(run=PurePath("/run"), data=PurePath("/data"))
PORTS = Ports(etcd=1, etcd_peer=2, api_server=3, controller_manager=4, scheduler=5)


def of(component: str, settings: Settings) -> list[str]:
    return arguments(settings, LAYOUT, PORTS)[component]


def test_components_are_listed_in_the_order_they_start_in() -> None:
    assert tuple(arguments(Settings(kubernetes="1.36.3"), LAYOUT, PORTS)) == COMPONENTS


@pytest.mark.parametrize("component", COMPONENTS)
def test_nothing_listens_beyond_loopback(component: str) -> None:
    listening = ("--bind-address=", "--listen-client-urls=https://", "--listen-peer-urls=https://")
    addresses = [
        flag.removeprefix(head)
        for flag in of(component, Settings(kubernetes="1.36.3"))
        for head in listening
        if flag.startswith(head)
    ]
    assert addresses
    assert all(address.startswith("127.0.0.1") for address in addresses)


@pytest.mark.parametrize(
    ("kubernetes", "gate", "served"),
    [
        pytest.param("1.32.13", True, ["v1beta1"], id="1.32 needs the gate and one beta"),
        pytest.param("1.33.6", True, ["v1beta1", "v1beta2"], id="1.33 needs the gate and both"),
        pytest.param("1.34.0", False, [], id="1.34 needs nothing"),
        pytest.param("1.36.3", False, [], id="1.36 needs nothing"),
    ],
)
def test_dynamic_resource_allocation_is_on_in_every_minor(
    kubernetes: str, gate: bool, served: list[str]
) -> None:
    settings = Settings(kubernetes=kubernetes)
    for component in (API_SERVER, CONTROLLER_MANAGER, SCHEDULER):
        given = "--feature-gates=DynamicResourceAllocation=true" in of(component, settings)
        assert given == gate
    versions = ",".join(f"resource.k8s.io/{version}=true" for version in served)
    configured = [flag for flag in of(API_SERVER, settings) if "--runtime-config" in flag]
    assert configured == ([f"--runtime-config={versions}"] if served else [])


def test_feature_gates_reach_every_component_and_apis_the_server() -> None:
    settings = Settings(
        kubernetes="1.32.13",
        feature_gates=("A=true", "B=false"),
        runtime_config=("api/alpha=true",),
    )
    for component in (API_SERVER, CONTROLLER_MANAGER, SCHEDULER):
        gates = "--feature-gates=DynamicResourceAllocation=true,A=true,B=false"
        assert gates in of(component, settings)
    apis = "--runtime-config=resource.k8s.io/v1beta1=true,api/alpha=true"
    assert apis in of(API_SERVER, settings)


def test_only_what_need_not_last_skips_the_disk() -> None:
    assert "--unsafe-no-fsync" in of(ETCD, Settings(kubernetes="1.36.3"))
    assert "--unsafe-no-fsync" not in of(ETCD, Settings(kubernetes="1.36.3", durable=True))


def test_the_audit_log_is_written_only_on_request() -> None:
    assert not [flag for flag in of(API_SERVER, Settings(kubernetes="1.36.3")) if "audit" in flag]
    asked = of(API_SERVER, Settings(kubernetes="1.36.3", audit=True))
    assert "--audit-log-path=/run/audit.log" in asked
    assert "--audit-log-maxsize=16384" in asked


def test_more_flags_come_last_so_that_they_win() -> None:
    more = Settings(kubernetes="1.36.3", flags={SCHEDULER: ("--v=4",)})
    assert of(SCHEDULER, more)[-1] == "--v=4"
    assert "--v=4" not in of(API_SERVER, more)
