# SPDX-License-Identifier: Apache-2.0
"""Dynamic resource allocation: claims, their allocation, templates, and pods that use them."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.conformance.builders import IMAGE, pod
from tests.conformance.probe import Probe
from tests.conformance.probe import probe as any_probe

# The first minor that serves this version.
probe = partial(any_probe, since=34)
RESOURCE = "resource.k8s.io/v1"
CLAIMS, TEMPLATES = "resourceclaims", "resourceclaimtemplates"
EXACTLY = {"deviceClassName": "gpu.example.com"}
REQUEST: dict[str, Any] = {"name": "gpu", "exactly": EXACTLY}
RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
OTHER_UID = "00000000-0000-4000-8000-000000000001"
USER = {"apiGroup": "example.com", "resource": "things", "name": "a", "uid": OTHER_UID}


def _claim(name: str = "a", *requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return {
        "apiVersion": RESOURCE,
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": {"devices": {"requests": list(requests or (REQUEST,)), **devices}},
    }


def _allocation(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"allocation": {"devices": {"results": list(results or (RESULT,))}, **more}}


def _path(p: Probe, *more: str) -> str:
    return p.path(RESOURCE, CLAIMS, *more)


async def _set_status(p: Probe, see: bool, **status: Any) -> None:
    step = p.see if see else p.do
    await step("PATCH", _path(p, "a", "status"), {"status": status}, patch="merge")


@probe("a claim comes back with allocationMode ExactCount and count 1, and no generation")
async def claim_created(p: Probe) -> None:
    await p.see("POST", _path(p), _claim())


@probe("a claim's alternatives get the same defaults")
async def alternatives(p: Probe) -> None:
    first = [{"name": "big", **EXACTLY}, {"name": "all", "allocationMode": "All", **EXACTLY}]
    await p.see("POST", _path(p), _claim("a", {"name": "gpu", "firstAvailable": first}))


@probe("a claim keeps selectors, tolerations, constraints and configuration")
async def claim_whole(p: Probe) -> None:
    expression = "device.attributes['gpu.example.com'].model == 'h100'"
    exactly = {
        **EXACTLY,
        "count": 2,
        "selectors": [{"cel": {"expression": expression}}],
        "tolerations": [{"key": "example.com/broken", "effect": "NoSchedule"}],
    }
    config = {"requests": ["gpu"], "opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}
    body = _claim(
        "a",
        {"name": "gpu", "exactly": exactly},
        constraints=[{"requests": ["gpu"], "matchAttribute": "gpu.example.com/rack"}],
        config=[config],
    )
    await p.see("POST", _path(p), body)


@probe("a claim's status is dropped at creation")
async def status_dropped(p: Probe) -> None:
    await p.see("POST", _path(p), {**_claim(), "status": _allocation()})


@probe("a claim's spec cannot change, its labels can")
async def claim_immutable(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    spec = {"spec": {"devices": {"requests": [{"name": "other", "exactly": EXACTLY}]}}}
    await p.see("PATCH", _path(p, "a"), spec, patch="merge")
    await p.see("PATCH", _path(p, "a"), {"metadata": {"labels": {"x": "y"}}}, patch="merge")


def _refused(title: str, *requests: dict[str, Any], **devices: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await p.see("POST", _path(p), _claim("a", *requests, **devices))


def _exactly(**changes: Any) -> dict[str, Any]:
    return {"name": "gpu", "exactly": {**EXACTLY, **changes}}


def _selector(expression: str) -> dict[str, Any]:
    return _exactly(selectors=[{"cel": {"expression": expression}}])


for _title, _request in [
    ("a request of nothing is refused", {"name": "gpu"}),
    (
        "a request of both one thing and alternatives is refused",
        {**REQUEST, "firstAvailable": [{"name": "x", **EXACTLY}]},
    ),
    ("a request without a name is refused", {"exactly": EXACTLY}),
    ("a request with a bad name is refused", {**REQUEST, "name": "Not A Name"}),
    ("a request without a class is refused", {"name": "gpu", "exactly": {}}),
    ("a request of a bad class is refused", _exactly(deviceClassName="Not A Name")),
    (
        "a request of no devices is one for one device",
        _exactly(allocationMode="ExactCount", count=0),
    ),
    ("a request of a negative count is refused", _exactly(count=-1)),
    ("a request of all devices with a count is refused", _exactly(allocationMode="All", count=2)),
    ("a request with an unknown allocationMode is refused", _exactly(allocationMode="Some")),
    ("a request with a selector that does not compile is refused", _selector("device.")),
    ("a request with a selector that is no boolean is refused", _selector("device.driver")),
    (
        "a request with a selector of an unknown field is refused",
        _selector("device.colour == 'red'"),
    ),
    ("a request with an empty selector is refused", _exactly(selectors=[{}])),
    (
        "a request with a bad toleration is refused",
        _exactly(tolerations=[{"operator": "Equal", "effect": "Sometimes"}]),
    ),
    (
        "a request of administration outside an admin namespace is refused",
        _exactly(adminAccess=True),
    ),
]:
    _refused(_title, _request)
_refused("requests of one name are refused", REQUEST, REQUEST)
_refused("more than 32 requests are refused", *({**REQUEST, "name": f"r{n}"} for n in range(33)))
_refused(
    "a constraint on an unknown request and a bad attribute is refused",
    constraints=[{"requests": ["other"], "matchAttribute": "no domain"}],
)
_refused(
    "a configuration of a bad driver and no object is refused",
    config=[{"requests": ["other"], "opaque": {"driver": "Not A Name", "parameters": 1}}],
)


@probe("a claim without requests is accepted")
async def no_requests(p: Probe) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"devices": {}}}
    await p.see("POST", _path(p), body)


@probe("an allocation is set by the status, reserved, and taken away again")
async def allocation(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, True, **_allocation())
    await _set_status(p, True, reservedFor=[USER])
    await _set_status(p, True, reservedFor=None)
    await _set_status(p, True, allocation=None)


@probe("an allocation and its reservation may be set together")
async def allocation_at_once(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, True, **_allocation(), reservedFor=[USER])


@probe("an allocation cannot change")
async def allocation_immutable(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, False, **_allocation())
    await _set_status(p, True, **_allocation({**RESULT, "device": "gpu-1"}))


@probe("a claim in use cannot lose its allocation")
async def allocation_in_use(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, False, **_allocation(), reservedFor=[USER])
    await _set_status(p, True, allocation=None)


@probe("a reservation without an allocation is refused")
async def reserved_unallocated(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, True, reservedFor=[USER])


def _status_refused(title: str, **status: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await p.do("POST", _path(p), _claim())
        await _set_status(p, True, **status)


_STATUSES: list[tuple[str, dict[str, Any]]] = [
    (
        "an allocation for an unknown request is refused",
        _allocation({**RESULT, "request": "other"}),
    ),
    ("an allocation without driver, pool and device is refused", _allocation({"request": "gpu"})),
    (
        "an allocation with a bad node selector is refused",
        _allocation(nodeSelector={"nodeSelectorTerms": []}),
    ),
    (
        "a reservation without a name, uid and resource is refused",
        {**_allocation(), "reservedFor": [{"resource": ""}]},
    ),
    (
        "two reservations of one uid are refused",
        {**_allocation(), "reservedFor": [USER, {**USER, "name": "b"}]},
    ),
    (
        "more than 256 reservations are refused",
        {
            **_allocation(),
            "reservedFor": [
                {**USER, "uid": f"00000000-0000-4000-8000-{number:012}"} for number in range(257)
            ],
        },
    ),
    (
        "the status of a device that is allocated is accepted",
        {
            **_allocation(),
            "devices": [
                {
                    "driver": "gpu.example.com",
                    "pool": "n1",
                    "device": "gpu-0",
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "True",
                            "reason": "Fine",
                            "message": "",
                            "lastTransitionTime": "2020-01-01T00:00:00Z",
                        }
                    ],
                    "networkData": {"interfaceName": "eth1", "ips": ["10.9.0.1/24"]},
                }
            ],
        },
    ),
    (
        "the status of a device that is not allocated is refused",
        {
            **_allocation(),
            "devices": [{"driver": "gpu.example.com", "pool": "n1", "device": "gpu-7"}],
        },
    ),
]
for _title, _status in _STATUSES:
    _status_refused(_title, **_status)


@probe("a claim's status cannot be written through the claim")
async def status_through_claim(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await p.see("PATCH", _path(p, "a"), {"status": _allocation()}, patch="merge")


@probe("an allocated claim is deleted at once and comes back whole")
async def claim_deleted(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await _set_status(p, False, **_allocation())
    await p.see("DELETE", _path(p, "a"))


def _template(name: str = "t", **metadata: Any) -> dict[str, Any]:
    inner = {"metadata": metadata, "spec": _claim()["spec"]}
    return {"metadata": {"name": name}, "spec": inner}


@probe("a claim template gets the defaults of a claim")
async def template_created(p: Probe) -> None:
    await p.see("POST", p.path(RESOURCE, TEMPLATES), _template(labels={"x": "y"}))


@probe("a claim template's spec cannot change")
async def template_immutable(p: Probe) -> None:
    await p.do("POST", p.path(RESOURCE, TEMPLATES), _template())
    patch = {"spec": {"metadata": {"labels": {"x": "z"}}}}
    await p.see("PATCH", p.path(RESOURCE, TEMPLATES, "t"), patch, patch="merge")


@probe("a claim template is validated as a claim, and its metadata too")
async def template_invalid(p: Probe) -> None:
    body = _template(labels={"not a label": "y"})
    body["spec"]["spec"]["devices"]["requests"] = [{"name": "gpu"}]
    await p.see("POST", p.path(RESOURCE, TEMPLATES), body)


def _user(*claims: dict[str, Any], **container: Any) -> dict[str, Any]:
    """A pod of a container that uses the claim called `gpu`."""
    used = {"resources": {"claims": [{"name": "gpu"}]}, **container}
    return pod(
        "a",
        {"resourceClaims": list(claims), "containers": [{"name": "app", "image": IMAGE, **used}]},
    )


FROM_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "t"}
FROM_CLAIM = {"name": "gpu", "resourceClaimName": "a"}


async def _until_claimed(p: Probe) -> str:
    """Waits until the pod's status names the claim made for it, and returns the name."""
    answer = await p.until(
        "GET",
        p.path("v1", "pods", "a"),
        lambda answer: "resourceClaimStatuses" in answer.body["status"],
    )
    name: str = answer.body["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
    return name


@probe("a claim is made from a template for a pod, which owns it and names it in its status")
async def generated(p: Probe) -> None:
    await p.do(
        "POST", p.path(RESOURCE, TEMPLATES), _template(labels={"x": "y"}, annotations={"n": "1"})
    )
    await p.do("POST", p.path("v1", "pods"), _user(FROM_TEMPLATE))
    name = await _until_claimed(p)
    await p.see("GET", _path(p, name))
    await p.see("GET", p.path("v1", "pods", "a"), pick=lambda body: body["status"])


@probe("a claim made for a pod goes with the pod")
async def generated_deleted(p: Probe) -> None:
    await p.do("POST", p.path(RESOURCE, TEMPLATES), _template())
    await p.do("POST", p.path("v1", "pods"), _user(FROM_TEMPLATE))
    name = await _until_claimed(p)
    p.hide(name, "claim")
    await p.do("DELETE", p.path("v1", "pods", "a"))
    await p.until_gone(_path(p, name))
    await p.see("GET", _path(p, name))


@probe("a claim that a pod names is not touched, nor is the pod's status")
async def named(p: Probe) -> None:
    await p.do("POST", _path(p), _claim())
    await p.see("POST", p.path("v1", "pods"), _user(FROM_CLAIM))


def _pod_refused(title: str, *claims: dict[str, Any], **container: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await p.see("POST", p.path("v1", "pods"), _user(*claims, **container))


_pod_refused("a pod whose container uses a claim it does not list is refused")
_pod_refused("a pod's claim from nowhere is refused", {"name": "gpu"})
_pod_refused(
    "a pod's claim from two places is refused", {**FROM_TEMPLATE, "resourceClaimName": "a"}
)
_pod_refused("a pod's claims of one name are refused", FROM_CLAIM, FROM_TEMPLATE)
_pod_refused(
    "a container that uses a claim twice is refused",
    FROM_CLAIM,
    resources={"claims": [{"name": "gpu"}, {"name": "gpu"}]},
)
_pod_refused(
    "a container that uses parts of a claim is accepted",
    FROM_CLAIM,
    resources={"claims": [{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}]},
)


@probe("a pod's claims cannot change")
async def pod_claims_immutable(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), _user(FROM_CLAIM))
    claims = [{"name": "gpu", "resourceClaimName": "b"}]
    patch = {"spec": {"resourceClaims": claims}}
    await p.see("PATCH", p.path("v1", "pods", "a"), patch, patch="merge")


@probe("only version v1 of resource.k8s.io is served")
async def versions(p: Probe) -> None:
    for version in ("v1beta1", "v1beta2", "v1alpha3"):
        await p.see("GET", p.path(f"resource.k8s.io/{version}", CLAIMS))
