# SPDX-License-Identifier: Apache-2.0
"""Kubeconfig files as they are written: read, checked for shape, and merged as kubectl does."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from trellis.api import strictyaml
from trellis.kube.credentials import Secret
from trellis.kube.errors import BadConfig, clipped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

T = TypeVar("T")

# Certificates stand in it, of perhaps hundreds of clusters.
_LIMITS = strictyaml.Limits(size=4 << 20)


class Extension(msgspec.Struct, frozen=True):
    name: str
    extension: Any = None


class Cluster(Secret, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[Extension] = msgspec.field(default_factory=list)


class Variable(Secret, frozen=True):
    name: str
    value: str = ""


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    command: str = ""
    args: list[str] = []
    env: list[Variable] = []
    install_hint: str = ""
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class User(Secret, frozen=True, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: Exec | None = None
    auth_provider: Any = None
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: list[str] = msgspec.field(default_factory=list, name="as-groups")
    impersonate_extra: dict[str, list[str]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )


class Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _Cluster(msgspec.Struct):
    name: str
    cluster: Cluster = Cluster()


class _User(msgspec.Struct):
    name: str
    user: User = User()


class _Context(msgspec.Struct):
    name: str
    context: Context = Context()


class _Config(msgspec.Struct, rename="kebab"):
    clusters: list[_Cluster] = []
    users: list[_User] = []
    contexts: list[_Context] = []
    current_context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[T]):
    """An entry and where it stands: in which file, under which heading."""

    value: T
    file: Path
    heading: str

    def where(self, field: str) -> str:
        return f"{self.file}: {self.heading}.{field}"

    def content(self, field: str, data: str, path: str) -> bytes:
        """What is written in place as base64, or in a file beside this one; data goes first."""
        if not data:
            return self.file_content(field, path) if path else b""
        try:
            return base64.b64decode(data, validate=True)
        except ValueError:
            raise BadConfig(
                f"{self.where(field)}-data: is not base64; encode it with `base64 -w0`"
            ) from None

    def file_content(self, field: str, path: str) -> bytes:
        """Relative paths begin at the kubeconfig."""
        file = self.file.parent / path
        try:
            return file.read_bytes()
        except OSError as error:
            raise BadConfig(
                f"{self.where(field)}: cannot read {file}: {error.strerror}; correct the path"
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """Several files as one. `files` are those that were there."""

    files: tuple[Path, ...]
    clusters: dict[str, Found[Cluster]] = field(default_factory=dict)
    users: dict[str, Found[User]] = field(default_factory=dict)
    contexts: dict[str, Found[Context]] = field(default_factory=dict)
    current: str = ""


def load(files: Sequence[Path]) -> Kubeconfig:
    """Merges the files: whoever says something first, wins. All but one may be missing."""
    read = [(file, config) for file in files if (config := _read(file)) is not None]
    if not read:
        looked = ", ".join(str(file) for file in files)
        raise BadConfig(
            f"{looked}: there is no such file; write a kubeconfig there,"
            " or name another with --kubeconfig or KUBECONFIG"
        )
    merged = Kubeconfig(files=tuple(file for file, _ in read))
    for file, config in read:
        clusters = [(entry.name, entry.cluster) for entry in config.clusters]
        _merge(merged.clusters, clusters, file, "cluster")
        users = [(entry.name, entry.user) for entry in config.users]
        _merge(merged.users, users, file, "user")
        contexts = [(entry.name, entry.context) for entry in config.contexts]
        _merge(merged.contexts, contexts, file, "context")
    current = next((config.current_context for _, config in read if config.current_context), "")
    return replace(merged, current=current)


def _merge(into: dict[str, Found[T]], entries: list[tuple[str, T]], file: Path, noun: str) -> None:
    names = [name for name, _ in entries]
    for name, value in entries:
        if names.count(name) > 1:
            raise BadConfig(f"{file}: {noun}s: two entries are named {name!r}; rename one")
        heading = f"{noun}s[{name}].{noun}"
        into.setdefault(name, Found(value=value, file=file, heading=heading))


def _read(file: Path) -> _Config | None:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfig(f"{file}: cannot be read: {error.strerror}; check the path") from None
    return _typed(_parsed(content, file), file)


def _parsed(content: bytes, file: Path) -> Any:
    try:
        return strictyaml.load(content.decode(), _LIMITS)
    except UnicodeDecodeError:
        raise BadConfig(f"{file}: is not text; name a kubeconfig") from None
    except strictyaml.InvalidYaml as error:
        # A bare number that is refused may be somebody's token.
        problem = re.sub(r"[0-9]{9,}", "…", clipped(str(error), 200))
        raise BadConfig(f"{file}: is no YAML of a kubeconfig: {problem}; correct it") from None


def _typed(parsed: Any, file: Path) -> _Config:
    if parsed is None:
        return _Config()
    try:
        return msgspec.convert(_texts(parsed), type=_Config)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        place = path.rstrip("`").lstrip(".") or "the whole file"
        raise BadConfig(
            f"{file}: {place}: {what[:1].lower()}{what[1:]}; correct or quote it"
        ) from None


def _texts(value: Any) -> Any:
    """As Go reads it: null is as good as nothing, and what looks like a number may be a name."""
    if isinstance(value, dict):
        return {
            key: item if key == "extensions" else _texts(item)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return str(value) if type(value) is int else value
