# SPDX-License-Identifier: Apache-2.0
"""What a webhook answered: read strictly, in the words in which the real server complains. Pure.

A webhook is not trusted: its answer may hold anything.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from trellis.embedded.admission.requests import GROUP
from trellis.embedded.fielderrors import shown
from trellis.embedded.gotext import json_kind
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema import scalars
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json

_KIND = "AdmissionReview"
# How Go names the types of fields, and of JSON values that do not fit them.
_FIELDS = {
    "uid": (str, "types.UID"),
    "allowed": (bool, "bool"),
    "status": (dict, "v1.Status"),
    "patch": (str, "[]uint8"),
    "patchType": (str, "v1.PatchType"),
    "auditAnnotations": (dict, "map[string]string"),
    "warnings": (list, "[]string"),
}
_STATUS = {
    "status": (str, "string"),
    "message": (str, "string"),
    "reason": (str, "v1.StatusReason"),
    "details": (dict, "v1.StatusDetails"),
    "metadata": (dict, "v1.ListMeta"),
    "code": (int, "int32"),
}
_ANONYMOUS = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\"";'
    ' Kind string "json:\\"kind,omitempty\\"" }'
)
_DETAILS = {
    "name": (str, "string"),
    "group": (str, "string"),
    "kind": (str, "string"),
    "uid": (str, "types.UID"),
    "causes": (list, "[]v1.StatusCause"),
    "retryAfterSeconds": (int, "int32"),
}
_CODES = range(400, 1000)


class Unusable(Exception):
    """The webhook could not be called, or its answer cannot be used; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    allowed: bool
    status: dict[str, Any]
    patch: bytes
    warnings: tuple[str, ...]


def read(answer: bytes, uid: str, version: str, *, mutating: bool) -> Verdict:
    response, about = _response(answer, version)
    if response is None:
        raise Unusable("received invalid webhook response: webhook response was absent")
    if version == "v1":
        _verify(response, about, uid, mutating=mutating)
    return Verdict(
        allowed=bool(response.get("allowed")),
        status=response.get("status") or {},
        patch=response["patch"] if mutating else b"",
        warnings=tuple(response.get("warnings") or ()),
    )


def _response(answer: bytes, version: str) -> tuple[dict[str, Any] | None, tuple[str, str]]:
    review = _parsed(answer)
    api_version, kind = review.get("apiVersion") or "", review.get("kind") or ""
    _registered(api_version or f"{GROUP}/{version}", kind or _KIND, version)
    response = review.get("response")
    if response is None:
        return None, (api_version, kind)
    _fitting(response, dict, f"{_KIND}.response", "v1.AdmissionResponse")
    _check_fields(response, _FIELDS, "AdmissionResponse.response")
    status = response.get("status") or {}
    _check_fields(status, _STATUS, "Status.response.status")
    _check_fields(status.get("details") or {}, _DETAILS, "StatusDetails.response.status.details")
    for warning in response.get("warnings") or ():
        _fitting(warning, str, "AdmissionResponse.response.warnings", "string")
    return {**response, "patch": _decoded(response.get("patch") or "")}, (api_version, kind)


def _parsed(answer: bytes) -> dict[str, Any]:
    try:
        review = from_json(answer, watch_keys=False)
    except Undecodable as problem:
        if answer.lstrip()[:1] == b"{":
            said = f"couldn't get version/kind; json parse error: {problem}"
            raise _uncalled(said) from None
        review = ""  # anything else is taken for YAML, where a word is a string
    if isinstance(review, dict):
        return review
    said = f"json: cannot unmarshal {json_kind(review)} into Go value of type {_ANONYMOUS}"
    raise _uncalled(f"couldn't get version/kind; json parse error: {said}")


def _registered(api_version: str, kind: str, version: str) -> None:
    if kind == _KIND and api_version == f"{GROUP}/{version}":
        return
    known = {f"{GROUP}/v1": "v1", f"{GROUP}/v1beta1": "v1beta1"}
    if kind == _KIND and api_version in known:
        theirs = f"({known[api_version]}.{_KIND})"
        raise _uncalled(f"converting {theirs} to ({version}.{_KIND}): unknown conversion")
    raise _uncalled(unregistered(kind, api_version))


def unregistered(kind: str, api_version: str) -> str:
    return (
        f'no kind "{kind}" is registered for version "{api_version}"'
        ' in scheme "pkg/runtime/scheme.go:111"'
    )


def _check_fields(found: dict[str, Any], fields: dict[str, Any], where: str) -> None:
    for name, (kind, go) in fields.items():
        value = found.get(name)
        if value is not None:
            _fitting(value, kind, f"{where}.{name}", go)


def _fitting(value: Any, kind: type, where: str, go: str) -> None:
    if type(value) is not kind:
        said = f"json: cannot unmarshal {json_kind(value)} into Go struct field {where}"
        raise _uncalled(f"{said} of type {go}")


def _decoded(patch: str) -> bytes:
    try:
        return b64decode(scalars.base64(patch))
    except Undecodable as problem:
        raise _uncalled(str(problem)) from None


def _uncalled(why: str) -> Unusable:
    return Unusable(f"failed to call webhook: {why}")


def _verify(response: dict[str, Any], about: tuple[str, str], uid: str, *, mutating: bool) -> None:
    wrong = ""
    patch, patch_type = response["patch"], response.get("patchType")
    if (theirs := response.get("uid") or "") != uid:
        wrong = f"expected response.uid={shown(uid)}, got {shown(theirs)}"
    elif about != (f"{GROUP}/v1", _KIND):
        api_version, kind = about
        group, _, version = api_version.rpartition("/")
        wrong = (
            f"expected webhook response of {GROUP}/v1, Kind={_KIND},"
            f" got {group}/{version}, Kind={kind}"
        )
    elif mutating:
        wrong = _mutating_problem(patch, patch_type)
    elif patch:
        wrong = "validating webhook may not return response.patch"
    elif patch_type is not None:
        wrong = "validating webhook may not return response.patchType"
    if wrong:
        raise Unusable(f"received invalid webhook response: {wrong}")


def _mutating_problem(patch: bytes, patch_type: str | None) -> str:
    if patch and patch_type is None:
        return "webhook returned response.patch but not response.patchType"
    if not patch and patch_type is not None:
        return "webhook returned response.patchType but not response.patch"
    if patch_type == "":
        return 'webhook returned invalid response.patchType of ""'
    return ""


class Denied(Refusal):
    """The status that a webhook gave, passed on."""

    def __init__(self, webhook: str, said: dict[str, Any]) -> None:
        code, reason = said.get("code") or 0, said.get("reason") or ""
        why = said.get("message") or reason
        denied = f'admission webhook "{webhook}" denied the request'
        message = f"{denied}: {why}" if why else f"{denied} without explanation"
        details = said.get("details")
        if details is not None:
            details = {name: details[name] for name in _DETAILS if details.get(name)}
        wait = (details or {}).get("retryAfterSeconds")
        headers = {"Retry-After": str(wait)} if wait else None
        super().__init__(code if code in _CODES else 400, reason, message, details, headers)
        self._metadata = said.get("metadata") or {}
        self._status = said.get("status") or ""

    @property
    def status(self) -> dict[str, Any]:
        body = {**super().status, "metadata": self._metadata}
        if self._status not in ("", "Success"):
            body["status"] = self._status
        return body
