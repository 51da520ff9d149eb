# SPDX-License-Identifier: Apache-2.0
"""Addresses and networks."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trellis.cel.overloads import Library, traversal
from trellis.cel.problems import EvaluationProblem
from trellis.cel.values import no_overload

NETWORK = Library()
_LENGTH_LIMIT = 64

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class IP:
    address: _Address
    type_name = "net.IP"


@dataclass(frozen=True, slots=True)
class CIDR:
    """An address and how many of its bits name the network; the others need not be zero."""

    address: _Address
    bits: int
    type_name = "net.CIDR"

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        return ipaddress.ip_network(f"{self.address}/{self.bits}", strict=False)


@lru_cache(maxsize=1024)
def _address(text: str) -> _Address:
    refused = f'IP Address "{text[:200]}" parse error during conversion from string: '
    if len(text) > _LENGTH_LIMIT:
        raise EvaluationProblem(f'{refused}ParseAddr("{text[:200]}"): unable to parse IP')
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationProblem(f'{refused}ParseAddr("{text}"): {_fault(text)}') from None
    if "%" in text:
        raise EvaluationProblem(f'IP address "{text}" with zone value is not allowed')
    if address.version == 6 and address.ipv4_mapped is not None:
        raise EvaluationProblem(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _fault(text: str) -> str:
    """What Go's netip says to a text that is no address; short of the many faults of IPv6."""
    if ":" in text.partition(".")[0] or "." not in text:
        return "unable to parse IP" if ":" not in text else "unexpected character"
    fields = text.split(".")
    for part in fields[:4]:
        if not part:
            return "IPv4 field must have at least one digit"
        if not (part.isascii() and part.isdigit()):
            return "unexpected character"
        if len(part) > 1 and part.startswith("0"):
            return "IPv4 field has octet with leading zero"
        if len(part) > 3 or int(part) > 255:
            return "IPv4 field has value >255"
    return "IPv4 address too short" if len(fields) < 4 else "IPv4 address too long"


@lru_cache(maxsize=1024)
def _network(text: str) -> CIDR:
    said = "network address parse error during conversion from string: "
    address_text, slash, bits = text.rpartition("/")
    refused = f'{said}{said}netip.ParsePrefix("{text[:200]}"): '
    if not slash:
        raise EvaluationProblem(f"{refused}no '/'")
    try:
        address = ipaddress.ip_address(address_text)
    except ValueError:
        raise EvaluationProblem(
            f'{refused}ParseAddr("{address_text[:200]}"): {_fault(address_text)}'
        ) from None
    if "%" in text:
        raise EvaluationProblem(f"{refused}IPv6 zones cannot be present in a prefix")
    canonical = bits.isascii() and bits.isdigit() and len(bits) <= 3 and str(int(bits)) == bits
    if not canonical:
        raise EvaluationProblem(f'{refused}bad bits after slash: "{bits[:200]}"')
    if int(bits) > address.max_prefixlen:
        raise EvaluationProblem(f"{refused}prefix length out of range")
    if address.version == 6 and address.ipv4_mapped is not None:
        raise EvaluationProblem(f'{said}IPv4-mapped IPv6 address "{text}" is not allowed')
    return CIDR(address, int(bits))


def _reads(read: Any) -> Any:
    def test(text: str) -> bool:
        try:
            read(text)
        except EvaluationProblem:
            return False
        return True

    return test


def _contains_ip(network: CIDR, ip: IP | str) -> bool:
    if isinstance(ip, str) and not _reads(_address)(ip):
        # The server looks into the error as if it were an address.
        raise no_overload()
    address = _address(ip) if isinstance(ip, str) else ip.address
    return address.version == network.address.version and address in network.network


def _contains_cidr(network: CIDR, other: CIDR | str) -> bool:
    if isinstance(other, str):
        other = _network(other)
    if other.address.version != network.address.version:
        return False
    return network.bits <= other.bits and other.network.overlaps(network.network)


def _link_local_multicast(address: _Address) -> bool:
    if address.version == 4:
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def _global_unicast(address: _Address) -> bool:
    if str(address) == "255.255.255.255":
        return False
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


def _masked(network: CIDR) -> CIDR:
    return CIDR(network.network.network_address, network.bits)


def _comparison(network: CIDR, other: Any) -> int:
    return 2 * ((network.bits + 79) // 80) + (traversal(other) if isinstance(other, str) else 0)


NETWORK.function("ip", "string -> IP", lambda text: IP(_address(text)), traversal)
NETWORK.function("isIP", "string -> bool", _reads(_address), traversal)
NETWORK.function(
    "ip.isCanonical",
    "string -> bool",
    lambda text: str(_address(text)) == text,
    lambda text: 2 * traversal(text),
)
NETWORK.function("string", "IP -> string", lambda ip: str(ip.address))
NETWORK.member("family", "IP -> int", lambda ip: ip.address.version)
NETWORK.member("isUnspecified", "IP -> bool", lambda ip: ip.address.is_unspecified)
NETWORK.member("isLoopback", "IP -> bool", lambda ip: ip.address.is_loopback)
NETWORK.member("isLinkLocalUnicast", "IP -> bool", lambda ip: ip.address.is_link_local)
NETWORK.member("isLinkLocalMulticast", "IP -> bool", lambda ip: _link_local_multicast(ip.address))
NETWORK.member("isGlobalUnicast", "IP -> bool", lambda ip: _global_unicast(ip.address))
NETWORK.function("cidr", "string -> CIDR", _network, traversal)
NETWORK.function("isCIDR", "string -> bool", _reads(_network), traversal)
NETWORK.function("string", "CIDR -> string", lambda net: f"{net.address}/{net.bits}")
for _kind in ("string", "IP"):
    NETWORK.member("containsIP", f"CIDR, {_kind} -> bool", _contains_ip, _comparison)
for _kind in ("string", "CIDR"):
    NETWORK.member("containsCIDR", f"CIDR, {_kind} -> bool", _contains_cidr, _comparison)
NETWORK.member("ip", "CIDR -> IP", lambda network: IP(network.address))
NETWORK.member("prefixLength", "CIDR -> int", lambda network: network.bits)
NETWORK.member("masked", "CIDR -> CIDR", _masked)
