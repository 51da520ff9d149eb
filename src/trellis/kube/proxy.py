# SPDX-License-Identifier: Apache-2.0
"""Which proxy leads to a server, by the environment variables that kubectl obeys too. Pure."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from trellis.kube.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(server: str, environ: Mapping[str, str]) -> str:
    """The URL of the proxy, or nothing for none."""
    url = urlsplit(server)
    host = url.hostname or ""
    variable = f"{url.scheme}_proxy"
    proxy = environ.get(variable.upper()) or environ.get(variable, "")
    if not proxy or _is_local(host):
        return ""
    port = url.port or _DEFAULT_PORTS.get(url.scheme, 0)
    exceptions = environ.get("NO_PROXY") or environ.get("no_proxy", "")
    if any(_excepts(entry.strip().lower(), host, port) for entry in exceptions.split(",")):
        return ""
    return _checked(proxy if "://" in proxy else f"http://{proxy}", variable.upper())


def is_web_url(text: str) -> bool:
    """Whether it is an http:// or https:// URL with a host."""
    try:
        url = urlsplit(text)
        return url.scheme in _DEFAULT_PORTS and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def _checked(proxy: str, variable: str) -> str:
    if not is_web_url(proxy):
        raise BadConfig(
            f"{variable}: only proxies of http:// and https:// are supported;"
            " use one of those, or name the server in NO_PROXY"
        )
    return proxy


def _excepts(entry: str, host: str, port: int) -> bool:
    if not entry:
        return False
    if entry == "*":
        return True
    if (address := _address(host)) and "/" in entry:
        return _within(address, entry)
    name, _, wanted = entry.rpartition(":") if _ends_with_port(entry) else (entry, "", "")
    if wanted and int(wanted) != port:
        return False
    suffix = "." + name.removeprefix("*").lstrip(".")
    # A leading dot means subdomains only, as in Go.
    return host.endswith(suffix) or (host == name and not name.startswith("."))


def _ends_with_port(entry: str) -> bool:
    head, colon, tail = entry.rpartition(":")
    return bool(colon) and ":" not in head and tail.isascii() and tail.isdigit()


def _is_local(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, network: str) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
