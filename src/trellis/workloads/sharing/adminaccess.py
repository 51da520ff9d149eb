# SPDX-License-Identifier: Apache-2.0
"""Where a claim asks for admin access: to devices that others use, past all allocation. Pure.

The operator makes claims with rights that the author of a set need not have. Kubernetes leaves
admin access to those who may be trusted with it, so nobody is to get it through us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

REMEDY = "make the ResourceClaim yourself and name it in the pod spec"


class _Devices(msgspec.Struct, frozen=True):
    requests: tuple[Any, ...] | None = None


class ClaimSpec(msgspec.Struct, frozen=True):
    """What is read of the spec of a claim, whichever its version. Servers store null for none."""

    devices: _Devices | None = None

    @property
    def requests(self) -> tuple[Any, ...]:
        return (self.devices.requests if self.devices else None) or ()


def admin_access(spec: ClaimSpec) -> Iterator[str]:
    """The place of each such request, below the spec of a claim.

    In every form that a version of the API has, and in alternatives, which have it in none yet. Of
    what has another type nothing is said here: no API server makes a claim of it.
    """
    for index, request in enumerate(spec.requests):
        place = f"devices.requests[{index}]"
        forms = {place: request, f"{place}.exactly": _member(request, "exactly")}
        for number, one in enumerate(_items(_member(request, "firstAvailable"))):
            forms[f"{place}.firstAvailable[{number}]"] = one
        for where, form in forms.items():
            if _member(form, "adminAccess") is True:
                yield f"{where}.adminAccess"


def _member(found: Any, name: str) -> Any:
    return found.get(name) if isinstance(found, dict) else None


def _items(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []
