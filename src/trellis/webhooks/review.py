# SPDX-License-Identifier: Apache-2.0
"""The AdmissionReview of admission.k8s.io/v1, from bytes and back. Pure.

Objects stay bytes until a handler asks for them: as plain dicts of its own, which it may change as
it likes, or as a type of its own, which may keep parts of them as bytes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec

from trellis.api import strictjson
from trellis.webhooks.jsonpatch import Operation as PatchOperation
from trellis.webhooks.jsonpatch import diff
from trellis.webhooks.refusals import InvalidJson, NotAReview
from trellis.webhooks.verdict import Allowed, Cause, Denied, Verdict, invalid

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

T = TypeVar("T")
# Longer than any name there is, and short enough to be logged.
Text = Annotated[str, msgspec.Meta(max_length=1024)]
_NULL = msgspec.Raw(b"null")
_SHOWN = 80


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class Kind(msgspec.Struct, frozen=True):
    kind: Text
    version: Text
    group: Text = ""


class Resource(msgspec.Struct, frozen=True):
    resource: Text
    version: Text
    group: Text = ""


class User(msgspec.Struct, frozen=True):
    """Who asks. For what a controller makes, this is the controller."""

    username: Text = ""
    uid: Text = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class Unfit(Exception):
    """An object is not of the shape that a handler reads it as: its writer's fault, not ours."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        what, _, where = said.partition(" - at `$")
        self.denied = invalid(Cause(field=where.rstrip("`").lstrip("."), message=what))


class Review(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The request of one review."""

    uid: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    operation: Operation
    kind: Kind
    resource: Resource
    user: User = msgspec.field(name="userInfo")
    sub_resource: Text = ""
    name: Text = ""
    """Empty in a mutating CREATE with `generateName`."""
    namespace: Text = ""
    dry_run: bool = False
    options: dict[str, Any] | None = None
    raw_object: msgspec.Raw = msgspec.field(name="object", default=_NULL)
    raw_old_object: msgspec.Raw = msgspec.field(name="oldObject", default=_NULL)

    def new(self) -> dict[str, Any]:
        """The object as it is to be, a fresh copy at every call; empty where there is none."""
        return _plain(self.raw_object)

    def old(self) -> dict[str, Any]:
        """The object as it is stored, a fresh copy at every call; empty where there is none."""
        return _plain(self.raw_old_object)

    def new_as(self, shape: type[T]) -> T:
        """The object as it is to be, read as a type; one that does not fit is denied."""
        return _shaped(self.raw_object, shape)

    def old_as(self, shape: type[T]) -> T:
        """The object as it is stored, read as a type."""
        return _shaped(self.raw_old_object, shape)


class _Request(msgspec.Struct, frozen=True):
    request: Review


_REQUEST = msgspec.json.Decoder(_Request)


class _Details(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str = ""
    group: str = ""
    kind: str = ""
    causes: tuple[Cause, ...] = ()


class _Status(msgspec.Struct, frozen=True):
    code: int
    reason: str
    message: str
    details: _Details
    status: str = "Failure"


class Response(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The answer to one review."""

    uid: str
    allowed: bool
    patch: bytes | None = None
    patch_type: str | None = None
    warnings: tuple[str, ...] = ()
    status: _Status | None = None


def decode(body: bytes, limits: strictjson.Limits = strictjson.REVIEW) -> Review:
    """The request of a review that is whole and of the version served here."""
    try:
        # All of it, although most is skipped below: nothing unreadable may wait for a handler.
        envelope = strictjson.loads(body, limits)
    except strictjson.InvalidJson as error:
        raise InvalidJson(str(error)) from error
    _check_envelope(envelope)
    try:
        review = _REQUEST.decode(body).request
    except msgspec.ValidationError as error:
        raise NotAReview(f"the AdmissionReview cannot be read: {error}") from error
    _check_objects(review)
    return review


def addressed(body: bytes, limits: strictjson.Limits = strictjson.REVIEW) -> Review | None:
    """A review whose objects must not be read, for an answer alone; None if it is no review."""
    if len(body) > limits.size:
        return None
    try:
        return _REQUEST.decode(body).request
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def unreadable(review: Review, why: InvalidJson) -> Denied:
    """The refusal of an object for what no handler may see: to its writer, and not as a failure of
    ours, which the API server would make of it."""
    field = strictjson.place_beyond_int64(review.raw_object)
    return invalid(Cause(field=field, message=f"{why}; use less of it"))


def respond(review: Review, verdict: Verdict) -> Response:
    """The verdict in the API's words. A patch is there only if the object really changes."""
    warnings = tuple(_one_line(warning) for warning in verdict.warnings)
    if isinstance(verdict, Denied):
        status = _status(review, verdict)
        return Response(uid=review.uid, allowed=False, status=status, warnings=warnings)
    patch = _patch(review, verdict)
    return Response(
        uid=review.uid,
        allowed=True,
        patch=msgspec.json.encode(patch) if patch else None,
        patch_type="JSONPatch" if patch else None,
        warnings=warnings,
    )


def encode(response: Response) -> bytes:
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def _check_envelope(envelope: Any) -> None:
    if not isinstance(envelope, dict):
        raise NotAReview(f"the body is no JSON object; send an {KIND} of {API_VERSION}")
    said = envelope.get("apiVersion"), envelope.get("kind")
    if said != (API_VERSION, KIND):
        version, kind = (repr(word)[:_SHOWN] for word in said)
        raise NotAReview(
            f"apiVersion {version}, kind {kind} is not served here; send an {KIND} of {API_VERSION}"
        )
    if not isinstance(envelope.get("request"), dict):
        raise NotAReview(f"the {KIND} has no request")


def _check_objects(review: Review) -> None:
    needed = {
        "object": review.operation in {Operation.CREATE, Operation.UPDATE},
        "oldObject": review.operation in {Operation.UPDATE, Operation.DELETE},
    }
    given = {"object": review.raw_object, "oldObject": review.raw_old_object}
    for field, raw in given.items():
        start = bytes(memoryview(raw)[:1])
        if start not in {b"{", b"n"}:
            raise NotAReview(f"request.{field} is no JSON object")
        if needed[field] and start == b"n":
            raise NotAReview(f"request.{field} is missing, and {review.operation} needs it")


def _plain(raw: msgspec.Raw) -> dict[str, Any]:
    decoded: dict[str, Any] | None = msgspec.json.decode(raw)
    return decoded or {}


def _shaped(raw: msgspec.Raw, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        raise Unfit(str(error)) from error


def _patch(review: Review, verdict: Allowed) -> tuple[PatchOperation, ...]:
    if verdict.object is None:
        return ()
    # As the API server would read it: structs, tuples and raw parts have become plain JSON.
    after = msgspec.json.decode(msgspec.json.encode(verdict.object))
    return diff(review.new(), after)


def _status(review: Review, denied: Denied) -> _Status:
    return _Status(
        code=denied.code,
        reason=denied.reason,
        message=denied.message,
        # Without kind and name, kubectl would not say which of many objects was refused.
        details=_Details(
            name=review.name,
            group=review.kind.group,
            kind=review.kind.kind,
            causes=denied.causes,
        ),
    )


def _one_line(warning: str) -> str:
    """The API server drops a warning with a control character, without a word."""
    if warning.isprintable():
        return warning
    return "".join(char if char.isprintable() else " " for char in warning)
