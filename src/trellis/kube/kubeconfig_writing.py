# SPDX-License-Identifier: Apache-2.0
"""Kubeconfigs of clusters that we start: made as text, written whole and private, and only ever
over our own."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import yaml

# Marks a file as written by us, so that the next cluster may replace it.
EXTENSION = "trellis.dev/cluster"


class WouldOverwrite(Exception):
    """A file that is not ours stands where one must be written."""


def with_token(name: str, server: str, authority: bytes, token: str, namespace: str = "") -> str:
    return _config(name, _cluster(server, authority), {"token": token}, namespace)


def with_certificate(
    name: str, server: str, authority: bytes, certificate: bytes, key: bytes
) -> str:
    user = {
        "client-certificate-data": b64encode(certificate).decode(),
        "client-key-data": b64encode(key).decode(),
    }
    return _config(name, _cluster(server, authority), user)


def write(path: Path, text: str) -> None:
    """Puts the file there in one step, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)


def refuse_foreign(path: Path) -> None:
    """A kubeconfig that somebody else wrote holds credentials we must not destroy."""
    if path.exists() and not _is_ours(path):
        raise WouldOverwrite(
            f"{path} was not written by trellis; choose another --kubeconfig or remove it"
        )


def remove(path: Path, text: str) -> None:
    """Takes our own file away again, unless it has been changed since."""
    if path.is_file() and path.read_text() == text:
        path.unlink()


def _is_ours(path: Path) -> bool:
    try:
        config = yaml.safe_load(path.read_text())
        return any(entry["name"] == EXTENSION for entry in config["extensions"])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError):
        return False


def _cluster(server: str, authority: bytes) -> dict[str, str]:
    return {
        "server": server,
        "certificate-authority-data": b64encode(authority).decode(),
    }


def _config(name: str, cluster: dict[str, str], user: dict[str, str], namespace: str = "") -> str:
    context: dict[str, Any] = {"cluster": name, "user": name}
    if namespace:
        context["namespace"] = namespace
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "extensions": [{"name": EXTENSION, "extension": {"name": name}}],
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name,
    }
    return yaml.safe_dump(config, sort_keys=False)
