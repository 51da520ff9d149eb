# SPDX-License-Identifier: Apache-2.0
"""The command line of every component, decided from settings, folders and ports. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
# Started in this order, stopped in the reverse one.
COMPONENTS = (ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER)

# On loopback: nobody routes to services here, and what the API server sends to one must not leave
# the machine.
SERVICE_RANGE = "127.64.0.0/16"
SERVICE_HOSTS = (
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.64.0.1",
)
FRONT_PROXY = "front-proxy-client"
ISSUER = "https://kubernetes.default.svc.cluster.local"
# Nodes here are simulated and send no heartbeats: they keep the state they were given.
NODE_GRACE = "24h"
AUDIT_LOG_MEGABYTES = 16_384
# DRA is served by default from this minor on; before it, a gate and the beta APIs are needed.
DRA_DEFAULT_MINOR = 34
DRA_BETAS = {32: ("v1beta1",), 33: ("v1beta1", "v1beta2")}

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user may choose about a lab. `flags` are appended to a component's own, by name."""

    kubernetes: str
    feature_gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    audit: bool = False
    durable: bool = False
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def minor(self) -> int:
        return int(self.kubernetes.split(".")[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie. `run` goes when the lab stops; `data` may be the user's own and stay."""

    run: PurePath
    data: PurePath

    @property
    def pki(self) -> PurePath:
        return self.data / "pki"

    @property
    def audit_policy(self) -> PurePath:
        return self.run / "audit-policy.yaml"

    @property
    def audit_log(self) -> PurePath:
        return self.run / "audit.log"

    def log(self, component: str) -> PurePath:
        return self.run / f"{component}.log"

    def kubeconfig(self, component: str) -> PurePath:
        return self.run / f"{component}.kubeconfig"


def arguments(settings: Settings, layout: Layout, ports: Ports) -> dict[str, list[str]]:
    """The arguments of each component, in the order in which they are started."""
    own = {
        ETCD: _etcd(settings, layout, ports),
        API_SERVER: _api_server(settings, layout, ports),
        CONTROLLER_MANAGER: _controller_manager(settings, layout, ports),
        SCHEDULER: _scheduler(settings, layout, ports),
    }
    return {name: [*args, *settings.flags.get(name, ())] for name, args in own.items()}


def _etcd(settings: Settings, layout: Layout, ports: Ports) -> list[str]:
    pki = layout.pki
    client, peer = (f"https://127.0.0.1:{port}" for port in (ports.etcd, ports.etcd_peer))
    return [
        "--name=lab",
        f"--data-dir={layout.data / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
        "--client-cert-auth",
        f"--trusted-ca-file={pki / 'etcd-ca.crt'}",
        f"--cert-file={pki / 'etcd.crt'}",
        f"--key-file={pki / 'etcd.key'}",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={pki / 'etcd-ca.crt'}",
        f"--peer-cert-file={pki / 'etcd.crt'}",
        f"--peer-key-file={pki / 'etcd.key'}",
        f"--quota-backend-bytes={8 << 30}",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=5m",
        "--log-level=warn",
        *([] if settings.durable else ["--unsafe-no-fsync"]),
    ]


def _api_server(settings: Settings, layout: Layout, ports: Ports) -> list[str]:
    pki = layout.pki
    return [
        f"--etcd-servers=https://127.0.0.1:{ports.etcd}",
        f"--etcd-cafile={pki / 'etcd-ca.crt'}",
        f"--etcd-certfile={pki / 'etcd-client.crt'}",
        f"--etcd-keyfile={pki / 'etcd-client.key'}",
        "--bind-address=127.0.0.1",
        # A loopback address cannot be an endpoint of the `kubernetes` service.
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={ports.api_server}",
        f"--tls-cert-file={pki / 'kube-apiserver.crt'}",
        f"--tls-private-key-file={pki / 'kube-apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--token-auth-file={pki / 'tokens.csv'}",
        f"--service-account-issuer={ISSUER}",
        f"--service-account-key-file={pki / 'sa.pub'}",
        f"--service-account-signing-key-file={pki / 'sa.key'}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        # Without these, the other components cannot check who calls their own endpoints.
        f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
        f"--requestheader-allowed-names={FRONT_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        *_gates(settings),
        *_listed("--runtime-config", (*_dra_versions(settings.minor), *settings.runtime_config)),
        *(_audit(layout) if settings.audit else []),
    ]


def _controller_manager(settings: Settings, layout: Layout, ports: Ports) -> list[str]:
    kubeconfig = layout.kubeconfig(CONTROLLER_MANAGER)
    return [
        *_client(kubeconfig, ports.controller_manager),
        f"--root-ca-file={layout.pki / 'ca.crt'}",
        f"--service-account-private-key-file={layout.pki / 'sa.key'}",
        "--use-service-account-credentials=true",
        f"--cluster-signing-cert-file={layout.pki / 'ca.crt'}",
        f"--cluster-signing-key-file={layout.pki / 'ca.key'}",
        f"--node-monitor-grace-period={NODE_GRACE}",
        *_gates(settings),
    ]


def _scheduler(settings: Settings, layout: Layout, ports: Ports) -> list[str]:
    return [*_client(layout.kubeconfig(SCHEDULER), ports.scheduler), *_gates(settings)]


def _client(kubeconfig: PurePath, port: int) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def _audit(layout: Layout) -> list[str]:
    return [
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        # One file: whoever counts in it knows places, and would lose them.
        f"--audit-log-maxsize={AUDIT_LOG_MEGABYTES}",
    ]


def _gates(settings: Settings) -> list[str]:
    dra = () if settings.minor >= DRA_DEFAULT_MINOR else ("DynamicResourceAllocation=true",)
    return _listed("--feature-gates", (*dra, *settings.feature_gates))


def _dra_versions(minor: int) -> tuple[str, ...]:
    return tuple(f"resource.k8s.io/{version}=true" for version in DRA_BETAS.get(minor, ()))


def _listed(flag: str, values: tuple[str, ...]) -> list[str]:
    return [f"{flag}={','.join(values)}"] if values else []
