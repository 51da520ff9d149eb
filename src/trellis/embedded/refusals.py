# SPDX-License-Identifier: Apache-2.0
"""What the API server answers when it refuses: the Status object and its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Details = dict[str, Any]
# The strategies of the real server that a stale update is refused with.
STALE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Refusal(Exception):
    """A request that is refused. Raised anywhere, answered by whoever took the request."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Details | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = dict(headers or {})

    @property
    def status(self) -> dict[str, Any]:
        """The Status object; fields that say nothing are left out, as Go does."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
        }
        if self.message:
            body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        body["code"] = self.code
        return body


def qualified(group: str, plural: str) -> str:
    """`pods`, `deployments.apps`: how messages name a resource."""
    return f"{plural}.{group}" if group else plural


def details(group: str, kind: str, name: str, **more: Any) -> Details:
    found = {"name": name, "group": group, "kind": kind, **more}
    return {field: value for field, value in found.items() if value}


def not_found(group: str, plural: str, name: str) -> Refusal:
    message = f'{qualified(group, plural)} "{name}" not found'
    return Refusal(404, "NotFound", message, details(group, plural, name))


def no_such_resource() -> Refusal:
    """An unknown resource inside a group that is known."""
    message = "the server could not find the requested resource"
    return Refusal(404, "NotFound", message, {})


def already_exists(group: str, plural: str, name: str) -> Refusal:
    message = f'{qualified(group, plural)} "{name}" already exists'
    return Refusal(409, "AlreadyExists", message, details(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str = STALE) -> Refusal:
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return Refusal(409, "Conflict", message, details(group, plural, name))


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> Refusal:
    """Refused for what its fields hold: 422, one cause a field."""
    causes = [error.cause for error in errors]
    message = f'{qualified(group, kind)} "{name}" is invalid: {joined(errors)}'
    return Refusal(422, "Invalid", message, details(group, kind, name, causes=causes))


def bad_request(message: str) -> Refusal:
    return Refusal(400, "BadRequest", message)


def forbidden(group: str, plural: str, name: str, why: str) -> Refusal:
    shown = f'{qualified(group, plural)} "{name}"' if name else qualified(group, plural)
    return Refusal(403, "Forbidden", f"{shown} is forbidden: {why}", details(group, plural, name))


def unauthorized() -> Refusal:
    return Refusal(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> Refusal:
    message = "the server does not allow this method on the requested resource"
    return Refusal(405, "MethodNotAllowed", message, {})


def not_acceptable(accepted: Sequence[str]) -> Refusal:
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return Refusal(406, "NotAcceptable", message)


def unsupported_media_type(content_type: str, accepted: Sequence[str]) -> Refusal:
    listed = ", ".join(accepted)
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {listed}"
    )
    return Refusal(415, "UnsupportedMediaType", message) if content_type else bad_request(message)


def internal(message: str) -> Refusal:
    details = {"causes": [{"message": message}]}
    return Refusal(500, "InternalError", f"Internal error occurred: {message}", details)
