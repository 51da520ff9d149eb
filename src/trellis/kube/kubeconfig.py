# SPDX-License-Identifier: Apache-2.0
"""From a kubeconfig to access: one context, its cluster and its user.

Whatever is wrong is said with the file, the field and the remedy. No secret is shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from trellis.kube.access import Access
from trellis.kube.errors import BadConfig, clipped
from trellis.kube.login import credentials
from trellis.kube.proxy import is_web_url, proxy_for
from trellis.kube.tls import Trust

if TYPE_CHECKING:
    from trellis.kube.access import Surroundings
    from trellis.kube.kubeconfig_file import Cluster, Context, Found, Kubeconfig, User
    from trellis.kube.transport import Pairs

T = TypeVar("T")


def access(config: Kubeconfig, context: str, surroundings: Surroundings) -> Access:
    """By the context of that name, or by the current one if it is empty."""
    chosen = _context(config, context)
    cluster = _wanted(config.clusters, chosen, "cluster")
    user = _wanted(config.users, chosen, "user") if chosen.value.user else None
    server = _server(cluster)
    return Access(
        server=server,
        trust=_trust(cluster),
        credentials=credentials(user, cluster, surroundings),
        namespace=chosen.value.namespace or "default",
        proxy=_proxy(cluster) or proxy_for(server, surroundings.environ),
        impersonation=_impersonation(user) if user else (),
    )


def _context(config: Kubeconfig, name: str) -> Found[Context]:
    files = ", ".join(str(file) for file in config.files)
    there = ", ".join(sorted(config.contexts)) or "none"
    wanted = name or config.current
    if not wanted:
        raise BadConfig(
            f"{files}: current-context: is not set; set it, or name a context (there are: {there})"
        )
    if wanted not in config.contexts:
        place = "contexts" if name else "current-context"
        raise BadConfig(
            f"{files}: {place}: there is no context {wanted!r}; choose another (there are: {there})"
        )
    return config.contexts[wanted]


def _wanted(entries: dict[str, Found[T]], context: Found[Context], noun: str) -> Found[T]:
    name = getattr(context.value, noun)
    if name not in entries:
        there = ", ".join(sorted(entries)) or "none"
        raise BadConfig(
            f"{context.where(noun)}: there is no {noun} {name!r};"
            f" add it under {noun}s or name another (there are: {there})"
        )
    return entries[name]


def _server(cluster: Found[Cluster]) -> str:
    server = cluster.value.server
    if not is_web_url(server) or "@" in server:
        shown = "this" if "@" in server else repr(clipped(server, 200))
        raise BadConfig(
            f"{cluster.where('server')}: {shown} is no URL of a server;"
            " write it as https://host:port"
        )
    return server.rstrip("/")


def _trust(cluster: Found[Cluster]) -> Trust:
    value = cluster.value
    where = cluster.where("certificate-authority")
    authority = cluster.content(
        "certificate-authority", value.certificate_authority_data, value.certificate_authority
    )
    if authority and value.insecure_skip_tls_verify:
        raise BadConfig(
            f"{cluster.where('insecure-skip-tls-verify')}: contradicts certificate-authority;"
            " remove one of the two"
        )
    from_file = value.certificate_authority and not value.certificate_authority_data
    return Trust(
        where=where,
        authority=authority,
        authority_file=cluster.file.parent / value.certificate_authority if from_file else None,
        insecure=value.insecure_skip_tls_verify,
        server_name=value.tls_server_name,
    )


def _proxy(cluster: Found[Cluster]) -> str:
    proxy = cluster.value.proxy_url
    if proxy and not is_web_url(proxy):
        raise BadConfig(
            f"{cluster.where('proxy-url')}: only proxies of http:// and https:// are supported;"
            " use one of those"
        )
    return proxy


def _impersonation(user: Found[User]) -> Pairs:
    value = user.value
    groups, extra = value.impersonate_groups, value.impersonate_extra
    if not value.impersonate:
        if value.impersonate_uid or groups or extra:
            raise BadConfig(
                f"{user.where('as')}: is missing beside as-uid, as-groups or as-user-extra;"
                " name the user to act as"
            )
        return ()
    headers = (
        ("Impersonate-User", value.impersonate),
        *((("Impersonate-Uid", value.impersonate_uid),) if value.impersonate_uid else ()),
        *(("Impersonate-Group", group) for group in groups),
        *(
            (f"Impersonate-Extra-{quote(key, safe='')}", item)
            for key, items in sorted(extra.items())
            for item in items
        ),
    )
    if any(not re.fullmatch(r"[\x20-\x7e]+", text) for _, text in headers):
        raise BadConfig(
            f"{user.where('as')}: a name to act as holds what no header can carry; correct it"
        )
    return headers
