# SPDX-License-Identifier: Apache-2.0
"""Every way a kubeconfig's user may log in: tokens, certificates, passwords, programs.

What is written down goes before a program, as with kubectl.
"""

from __future__ import annotations

import base64
import shutil
from typing import TYPE_CHECKING, Any

from trellis.kube.credentials import Certificate, Identity, Stored, basic, bearer
from trellis.kube.errors import BadConfig
from trellis.kube.exec_plugin import ExecPlugin, Program

if TYPE_CHECKING:
    from trellis.kube.access import Surroundings
    from trellis.kube.credentials import Credentials
    from trellis.kube.kubeconfig_file import Cluster, Exec, Found, User

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"
_MODES = ("Never", "IfAvailable", "Always")


def credentials(
    user: Found[User] | None, cluster: Found[Cluster], surroundings: Surroundings
) -> Credentials:
    """No user: an anonymous one."""
    if user is None:
        return Stored(Identity, surroundings.clock)
    value = user.value
    if value.auth_provider is not None:
        raise BadConfig(
            f"{user.where('auth-provider')}: Kubernetes has dropped these;"
            " log in through an exec plugin instead"
        )
    if value.username and (value.token or value.token_file):
        raise BadConfig(f"{user.where('username')}: contradicts the token; remove one of the two")
    written = _identity(user)
    if value.exec is None or written != Identity():
        return Stored(lambda: _identity(user), surroundings.clock)
    return ExecPlugin(_program(user, value.exec, cluster, surroundings), surroundings.clock)


def _identity(user: Found[User]) -> Identity:
    value = user.value
    headers = basic(value.username, value.password) if value.username else ()
    if value.token_file:
        content = user.file_content("tokenFile", value.token_file)
        headers = bearer(content.decode(errors="replace"), user.where("tokenFile"))
    elif value.token:
        headers = bearer(value.token, user.where("token"))
    return Identity(headers, _certificate(user))


def _certificate(user: Found[User]) -> Certificate | None:
    value = user.value
    chain = user.content(
        "client-certificate", value.client_certificate_data, value.client_certificate
    )
    key = user.content("client-key", value.client_key_data, value.client_key)
    if bool(chain) != bool(key):
        missing = "client-key" if chain else "client-certificate"
        raise BadConfig(f"{user.where(missing)}: is missing; a certificate and its key go together")
    return Certificate(chain, key) if chain else None


def _program(
    user: Found[User], plugin: Exec, cluster: Found[Cluster], surroundings: Surroundings
) -> Program:
    where = user.where("exec")
    if not plugin.command:
        raise BadConfig(f"{where}.command: is missing; name the program to run")
    if plugin.api_version not in EXEC_VERSIONS:
        raise BadConfig(
            f"{where}.apiVersion: {plugin.api_version!r} is not supported;"
            f" use {' or '.join(EXEC_VERSIONS)}"
        )
    extra = {variable.name: variable.value for variable in plugin.env}
    environment = {**surroundings.environ, **extra}
    return Program(
        where=where,
        command=_command(user, plugin, environment),
        arguments=tuple(plugin.args),
        environment=environment,
        api_version=plugin.api_version,
        cluster=_cluster(cluster) if plugin.provide_cluster_info else None,
        install_hint=plugin.install_hint,
        attended=_attended(plugin, where, terminal=surroundings.terminal),
    )


def _command(user: Found[User], plugin: Exec, environment: dict[str, str]) -> str:
    """A path begins at the kubeconfig; a bare name is looked for on the PATH."""
    if "/" in plugin.command:
        return str(user.file.parent / plugin.command)
    return shutil.which(plugin.command, path=environment.get("PATH")) or plugin.command


def _attended(plugin: Exec, where: str, *, terminal: bool) -> bool:
    # Only the older version may leave it open.
    mode = plugin.interactive_mode
    if not mode and plugin.api_version == EXEC_VERSIONS[1]:
        mode = "IfAvailable"
    if mode not in _MODES:
        raise BadConfig(f"{where}.interactiveMode: must be set; choose from {', '.join(_MODES)}")
    if mode == "Always" and not terminal:
        raise BadConfig(
            f"{where}.interactiveMode: the program always asks, and there is no terminal;"
            " use another way to log in"
        )
    return terminal and mode != "Never"


def _cluster(cluster: Found[Cluster]) -> dict[str, Any]:
    """What a program may be told about the cluster, under the names that it expects."""
    value = cluster.value
    authority = cluster.content(
        "certificate-authority", value.certificate_authority_data, value.certificate_authority
    )
    extensions = {entry.name: entry.extension for entry in value.extensions}
    told = {
        "server": value.server,
        "tls-server-name": value.tls_server_name,
        "insecure-skip-tls-verify": value.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(authority).decode(),
        "proxy-url": value.proxy_url,
        "disable-compression": value.disable_compression,
        "config": extensions.get(_CLUSTER_EXTENSION),
    }
    return {name: item for name, item in told.items() if item}
