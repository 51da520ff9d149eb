# SPDX-License-Identifier: Apache-2.0
"""The Go module of the lab, derived from the `go.mod` that Kubernetes itself publishes.

Text in, text out: nothing here touches files, the network or Go.
"""

from __future__ import annotations

import re

ETCD = "go.etcd.io/etcd/server/v3"
ETCD_CLIENT = "go.etcd.io/etcd/client/v3"
_STAGING = re.compile(r"^\s*(\S+) => \./staging/", re.MULTILINE)
_GO = re.compile(r"^go (\S+)$", re.MULTILINE)
_GODEBUG = re.compile(r"^godebug default=(\S+)$", re.MULTILINE)


class UnknownLayout(ValueError):
    """Kubernetes' go.mod lacks something that the lab's go.mod is made from."""


def go_mod(kubernetes: str, upstream: str) -> str:
    """The lab's go.mod for a Kubernetes version such as `1.36.3`, given upstream's go.mod.

    Kubernetes requires its staging modules at v0.0.0 and replaces them by folders. Replaces of
    a dependency are ignored, so each is pinned here to the tag published for the same release.
    """
    staging = _STAGING.findall(upstream)
    if not staging:
        raise UnknownLayout(f"the go.mod of Kubernetes {kubernetes} replaces no staging modules")
    release = f"v0.{kubernetes.split('.', 1)[1]}"
    godebug = _GODEBUG.search(upstream)
    lines = [
        "module trellis.dev/lab",
        "",
        f"go {_only(_GO, upstream, 'go directive')}",
        "",
        *([f"godebug default={godebug[1]}", ""] if godebug else []),
        "require (",
        f"\t{ETCD} {_etcd(upstream)}",
        f"\tk8s.io/kubernetes v{kubernetes}",
        ")",
        "",
        "replace (",
        *(f"\t{module} => {module} {release}" for module in staging),
        ")",
        "",
    ]
    return "\n".join(lines)


def kubernetes_version(mod: str) -> str:
    """The Kubernetes version that a go.mod of the lab pins, such as `1.36.3`."""
    pinned = re.compile(r"^\s*k8s\.io/kubernetes v(\S+)$", re.MULTILINE)
    return _only(pinned, mod, "k8s.io/kubernetes requirement")


def _etcd(upstream: str) -> str:
    # The server must speak what this Kubernetes' etcd client expects, and is not always listed.
    for module in (ETCD, ETCD_CLIENT):
        found = re.search(rf"^\s*{re.escape(module)} (\S+)", upstream, re.MULTILINE)
        if found:
            return found[1]
    raise UnknownLayout("Kubernetes' go.mod names no etcd version")


def _only(pattern: re.Pattern[str], text: str, what: str) -> str:
    found = pattern.search(text)
    if not found:
        raise UnknownLayout(f"no {what} in go.mod")
    return found[1]
