# SPDX-License-Identifier: Apache-2.0
"""The Go module of the lab, derived from the `go.mod` that Kubernetes itself publishes.

Text in, text out: nothing here touches files, the network or Go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NEWER_PATCHES = 5
ETCD = "go.etcd.io/etcd/server/v3"
ETCD_CLIENT = "go.etcd.io/etcd/client/v3"
_STAGING = re.compile(r"^\s*(\S+) => \./staging/", re.MULTILINE)
_GO = re.compile(r"^go (\S+)$", re.MULTILINE)
_GODEBUG = re.compile(r"^godebug default=(\S+)$", re.MULTILINE)


class UnknownLayout(ValueError):
    """Kubernetes' go.mod lacks something that the lab's go.mod is made from."""


def staging_modules(kubernetes: str, upstream: str) -> dict[str, str]:
    """The staging modules that upstream's go.mod replaces, with the tag of the same release."""
    found = _STAGING.findall(upstream)
    if not found:
        raise UnknownLayout(f"the go.mod of Kubernetes {kubernetes} replaces no staging modules")
    return dict.fromkeys(found, f"v0.{kubernetes.split('.', 1)[1]}")


def nearest_tags(tag: str) -> list[str]:
    """Tags of the same minor that may stand in for one, the best first: older patches, newest
    first, then the few that may follow."""
    head, _, patch = tag.rpartition(".")
    older = range(int(patch) - 1, -1, -1)
    newer = range(int(patch) + 1, int(patch) + 1 + NEWER_PATCHES)
    return [f"{head}.{number}" for number in (*older, *newer)]


def go_mod(kubernetes: str, upstream: str, staging: Mapping[str, str]) -> str:
    """The lab's go.mod for a Kubernetes version such as `1.36.3`, given upstream's go.mod.

    Kubernetes requires its staging modules at v0.0.0 and replaces them by folders. Replaces of
    a dependency are ignored, so each is pinned here to the tag that `staging` gives.
    """
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
        *(f"\t{module} => {module} {tag}" for module, tag in staging.items()),
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
