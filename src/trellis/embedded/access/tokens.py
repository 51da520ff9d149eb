# SPDX-License-Identifier: Apache-2.0
"""The `token` subresource of service accounts: what a request for a token asks, and its answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from trellis.embedded.access.accounts import ISSUER, Bound, Lifetime, claims
from trellis.embedded.fielderrors import invalid as invalid_field
from trellis.embedded.refusals import bad_request, conflict, invalid, not_found
from trellis.embedded.stamps import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.access.jwt import Claims
    from trellis.embedded.access.reading import Reader
    from trellis.embedded.asking import Object

GROUP = "authentication.k8s.io"
KIND = "TokenRequest"
AUDIENCES = (ISSUER,)
_DEFAULT_SECONDS = 3600
_LEAST_SECONDS = 600
_MOST_SECONDS = 1 << 32
# What the token volume of a pod asks for. Old clients never read theirs again, so such a token
# lives for a year, and only warns after the hour.
_VOLUME_SECONDS = 3607
_EXTENDED_SECONDS = 365 * 24 * 3600


def prepared(body: Object, account: Object, now: datetime) -> Object:
    """The request with all that it left out, as validating admission sees it."""
    metadata, spec = dict(body.get("metadata") or {}), dict(body.get("spec") or {})
    own = account["metadata"]
    if metadata.get("name") and metadata["name"] != own["name"]:
        said = "must match the service account name if specified"
        problem = invalid_field("metadata.name", metadata["name"], said)
        raise invalid(GROUP, KIND, own["name"], [problem])
    if metadata.get("uid") and metadata["uid"] != own["uid"]:
        said = (
            f"the UID in the token request ({metadata['uid']}) does not match the UID of the"
            f" service account ({own['uid']})"
        )
        raise conflict(GROUP, KIND, own["name"], said)
    metadata |= {field: own[field] for field in ("name", "namespace", "uid")}
    metadata["creationTimestamp"] = stamp(now)
    asked: int | None = spec.get("expirationSeconds")
    seconds = _DEFAULT_SECONDS if asked is None else asked
    _check_seconds(seconds)
    completed = {
        "audiences": list(spec.get("audiences") or AUDIENCES),
        "expirationSeconds": seconds,
        "boundObjectRef": spec.get("boundObjectRef"),
    }
    return {
        "kind": KIND,
        "apiVersion": f"{GROUP}/v1",
        "metadata": metadata,
        "spec": completed,
        "status": {"token": "", "expirationTimestamp": None},
    }


def granted(
    request: Object, account: Object, reader: Reader, now: datetime
) -> tuple[Object, Claims]:
    """The answer, its token still empty, and what the token is to claim."""
    spec = request["spec"]
    bound = _bound(spec["boundObjectRef"], account["metadata"], reader)
    seconds, warn_after = spec["expirationSeconds"], 0
    if bound.pod and seconds == _VOLUME_SECONDS and set(spec["audiences"]) <= set(AUDIENCES):
        seconds, warn_after = _EXTENDED_SECONDS, seconds
    life = Lifetime(issued=now.timestamp(), seconds=seconds, warn_after=warn_after)
    expires = now + timedelta(seconds=spec["expirationSeconds"])
    answer = {**request, "status": {"token": "", "expirationTimestamp": stamp(expires)}}
    return answer, claims(account, bound, spec["audiences"], life)


def _check_seconds(seconds: int) -> None:
    said = ""
    if seconds < _LEAST_SECONDS:
        said = "may not specify a duration less than 10 minutes"
    elif seconds > _MOST_SECONDS:
        said = "may not specify a duration larger than 2^32 seconds"
    if said:
        problem = invalid_field("spec.expirationSeconds", seconds, said)
        raise invalid(GROUP, KIND, "", [problem])


def _bound(
    reference: Mapping[str, Any] | None, account: Mapping[str, Any], reader: Reader
) -> Bound:
    if reference is None:
        return Bound()
    kind, version = reference.get("kind", ""), reference.get("apiVersion", "")
    group, _, _ = version.rpartition("/")
    name = reference.get("name", "")
    plural = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}.get(kind, "")
    if group or not plural:
        shown = version if group else f"/{version}"
        raise bad_request(f"cannot bind token to object of type {shown}, Kind={kind}")
    where = "" if kind == "Node" else account["namespace"]
    found = reader.get("", plural, where, name)
    if found is None:
        raise not_found("", plural, name)
    bound = Bound(**{kind.lower(): found})
    if bound.pod:
        bound = _on_node(bound.pod, account["name"], reader)
    if reference.get("uid") and reference["uid"] != found["metadata"]["uid"]:
        why = (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID in"
            " record. The object might have been deleted and then recreated"
        )
        raise conflict("", kind, name, why)
    return bound


def _on_node(pod: Object, account: str, reader: Reader) -> Bound:
    if pod["spec"].get("serviceAccountName") != account:
        raise bad_request(
            f'cannot bind token for serviceaccount "{account}" to pod running with different'
            " serviceaccount name."
        )
    name = pod["spec"].get("nodeName")
    if not name:
        return Bound(pod=pod)
    return Bound(pod=pod, node=reader.get("", "nodes", "", name) or {"metadata": {"name": name}})
