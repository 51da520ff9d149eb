# SPDX-License-Identifier: Apache-2.0
"""How Go prints the server's internal objects, for the messages that hold one.

Some refusals quote the refused part of an object, or a diff of it, as the internal Go type:
`{"Name":"a","ResourceClaimName":null}`. The types are in `goforms.json`, made by reflection over
Kubernetes' own; it is read when the first such message is written.
"""

from __future__ import annotations

import difflib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from trellis.embedded.fielderrors import Verbatim

_ZEROS = {"string": "", "bool": False, "number": 0, "=Quantity": "0", "=IntOrString": 0}
# These moved from the pod's spec into its security context when the type became internal.
_HOST = {
    "HostNetwork": "hostNetwork",
    "HostPID": "hostPID",
    "HostIPC": "hostIPC",
    "ShareProcessNamespace": "shareProcessNamespace",
    "HostUsers": "hostUsers",
}
_POD_SPEC, _SECURITY = "core.PodSpec", "core.PodSecurityContext"
_FIXED_HOST = ("HostNetwork", "HostPID", "HostIPC")


@lru_cache(maxsize=1)
def _types() -> dict[str, list[list[Any]]]:
    loaded: dict[str, list[list[Any]]] = json.loads(
        Path(__file__).with_name("goforms.json").read_text("utf-8")
    )
    return loaded


def internal(shape: str, value: Any) -> Any:
    """The value as the internal Go type would be marshalled, fields in Go's order."""
    if shape.startswith("*"):
        return None if value is None else internal(shape[1:], value)
    if shape.startswith("[]"):
        return None if value is None else [internal(shape[2:], each) for each in value]
    if shape.startswith("{}"):
        if value is None:
            return None
        return {key: internal(shape[2:], value[key]) for key in sorted(value)}
    if "." in shape:
        return _struct(shape, value or {})
    return _ZEROS.get(shape) if value is None else value


def _struct(name: str, value: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = {}
    for shown, read, shape, *omitted in _types()[name]:
        held = value if not read and not shown else value.get(read)
        if not shown:  # embedded: its fields are this type's own
            done |= _struct(shape, held or {})
            continue
        printed = internal(shape, held)
        if not (omitted and (printed in (None, "", 0, False) or printed in ([], {}))):
            done[shown] = printed
    if name == _POD_SPEC:
        done["SecurityContext"] = _security(value)
    return done


def _security(spec: dict[str, Any]) -> dict[str, Any]:
    done = _struct(_SECURITY, spec.get("securityContext") or {})
    for shown, read in _HOST.items():
        done[shown] = spec.get(read, False if shown in _FIXED_HOST else None)
    return done


def printed(shape: str, value: Any) -> Verbatim:
    """What a message shows of the value."""
    return Verbatim(json.dumps(internal(shape, value), separators=(",", ":"), ensure_ascii=False))


def difference(shape: str, old: Any, new: Any) -> str:
    """A unified diff of both, printed over many lines."""
    before, after = (
        [f"{line}\n" for line in _indented(internal(shape, each)).split("\n")]
        for each in (old, new)
    )
    return "".join(list(difflib.unified_diff(before, after, n=3))[2:])


def _indented(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
