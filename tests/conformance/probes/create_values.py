# SPDX-License-Identifier: Apache-2.0
"""POST: values that the server rewrites, decodes or looks up."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE, pod
from tests.conformance.natives import CONFIG_MAP, LIMIT_RANGE, POD, SECRET, Native
from tests.conformance.probe import Body, Probe, probe

_TRIED_ONLY = {"dryRun": "All"}
# A limit range takes any quantity of any resource and computes nothing.
_QUANTITIES = (
    ("2000m", "1000", "1000000", "1024", "0", "0Gi", "123456789012345678901234"),
    ("1048576Ki", "1024Mi", "1500Mi", "1.5Gi", "0.1Ki", "100E"),
    ("0.1", ".5", "1.0001k", "0.0000000001", "-0.5", "+3", "1u"),
    ("1e3", "1.5e3", "1E2", "5e-1", "1000e0"),
)


def _limited(cpu: Any) -> dict[str, Any]:
    container = {"name": "app", "image": IMAGE, "resources": {"limits": {"cpu": cpu}}}
    return pod("a", {"containers": [container]})


def _resources(body: dict[str, Any]) -> Any:
    return body["spec"]["containers"][0]["resources"]


def _maxima(body: dict[str, Any]) -> Any:
    return body["spec"]["limits"][0]["max"]


@probe("quantities come back in canonical form: the largest suffix that leaves no fraction, mostly")
async def quantities(p: Probe) -> None:
    for values in _QUANTITIES:
        given = {f"example.com/{number}": value for number, value in enumerate(values)}
        body = LIMIT_RANGE.new(p, {"spec": {"limits": [{"type": "Container", "max": given}]}})
        path = LIMIT_RANGE.collection(p)
        await p.see("POST", path, body, query=_TRIED_ONLY, pick=_maxima, note=" ".join(values))


@probe("a quantity may be a number or null, but nothing else that is no quantity")
async def odd_quantities(p: Probe) -> None:
    values: tuple[Any, ...] = (2, 1.5, None, "", True, [])
    for value in values:
        body = _limited(value)
        path = p.path("v1", "pods")
        await p.see("POST", path, body, query=_TRIED_ONLY, pick=_resources, note=repr(value))


@probe("a malformed quantity is 400 and says what was expected")
async def malformed_quantities(p: Probe) -> None:
    for value in ("nonsense", "1kk", "1 Gi", "1gi", "--1"):
        await p.see("POST", p.path("v1", "pods"), _limited(value), note=value)


@probe("a container's requests default to its limits")
async def requests_from_limits(p: Probe) -> None:
    limits = {"cpu": "1000m", "memory": "1024Mi", "example.com/gpu": 2}
    resources = {"limits": limits, "requests": {"cpu": "0.5"}}
    spec = {"containers": [{"name": "app", "image": IMAGE, "resources": resources}]}
    await p.see("POST", p.path("v1", "pods"), pod("a", spec), pick=_resources)


@probe("a secret's stringData is written over its data and never comes back")
async def string_data(p: Probe) -> None:
    given = {"data": {"a": "YQ==", "b": "Yg=="}, "stringData": {"b": "new", "c": "ü"}}
    await p.see("POST", SECRET.collection(p), SECRET.new(p, given))
    await p.see("GET", SECRET.path(p))


def _refused(native: Native, *changes: dict[str, Any]) -> Body:
    async def run(p: Probe) -> None:
        for change in changes:
            await p.see("POST", native.collection(p), native.new(p, change))

    return run


probe("a secret's data is base64 and its keys are file names")(
    _refused(SECRET, {"data": {"a": "not base64!"}}, {"data": {"bad key": "YQ=="}})
)
probe("a secret of a known type must have that type's keys")(
    _refused(
        SECRET,
        {"type": "kubernetes.io/tls"},
        {"type": "kubernetes.io/basic-auth"},
        {"type": "kubernetes.io/ssh-auth"},
        {"type": "kubernetes.io/dockerconfigjson"},
        {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{"}},
        {"type": "kubernetes.io/service-account-token"},
    )
)
probe("a config map's keys are file names, each in data or in binaryData")(
    _refused(
        CONFIG_MAP,
        {"data": {"bad key": "", "..": "", "..a": "", "x" * 254: ""}},
        {"binaryData": {"a": "YQ=="}},
        {"binaryData": {"b": "not base64!"}},
        {"data": {"a": 1}},
    )
)
probe("a pod that names what does not exist is 403")(
    _refused(
        POD,
        {"spec": {"serviceAccountName": "missing"}},
        {"spec": {"priorityClassName": "missing"}},
        {"spec": {"runtimeClassName": "missing"}},
    )
)
probe("a pod may not choose a priority other than its class's")(
    _refused(
        POD,
        {"spec": {"priority": 5}},
        {"spec": {"priorityClassName": "system-node-critical", "priority": 1}},
    )
)


@probe("a null in a config map's data is an empty string")
async def null_data(p: Probe) -> None:
    await p.see("POST", CONFIG_MAP.collection(p), {"metadata": {"name": "a"}, "data": {"a": None}})


@probe("a pod gets the priority of its class")
async def priority_class(p: Probe) -> None:
    body = pod("a", {"priorityClassName": "system-cluster-critical"})
    await p.see("POST", p.path("v1", "pods"), body, pick=_priority)


def _priority(body: dict[str, Any]) -> Any:
    names = ("priority", "priorityClassName", "preemptionPolicy")
    return {name: body["spec"].get(name) for name in names}
