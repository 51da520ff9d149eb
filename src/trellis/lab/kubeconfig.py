# SPDX-License-Identifier: Apache-2.0
"""Kubeconfig files: made as text, written whole and private, and only ever over our own."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trellis.lab.errors import WouldOverwrite

if TYPE_CHECKING:
    from trellis.webhooks.certificates import Pair

# Marks a file as written by a lab, so that the next one may replace it.
EXTENSION = "trellis.dev/lab"


def with_token(name: str, server: str, authority: bytes, token: str) -> str:
    return _config(name, server, authority, {"token": token})


def with_certificate(name: str, server: str, authority: bytes, pair: Pair) -> str:
    user = {
        "client-certificate-data": b64encode(pair.certificate).decode(),
        "client-key-data": b64encode(pair.key).decode(),
    }
    return _config(name, server, authority, user)


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
            f"{path} was not written by a lab; choose another --kubeconfig or remove it"
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


def _config(name: str, server: str, authority: bytes, user: dict[str, Any]) -> str:
    cluster = {
        "server": server,
        "certificate-authority-data": b64encode(authority).decode(),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "extensions": [{"name": EXTENSION, "extension": {"lab": name}}],
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return yaml.safe_dump(config, sort_keys=False)
