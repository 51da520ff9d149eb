# SPDX-License-Identifier: Apache-2.0
"""From the server's Status, or whatever came in its place, to the error that it means. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from trellis.kube import errors
from trellis.kube.codec import decoder
from trellis.kube.errors import Cause, Failure, Refused, clipped

if TYPE_CHECKING:
    from trellis.kube.transport import Response

_MOST_CAUSES = 50
_PLAIN_LENGTH = 200

_BY_REASON: dict[str, type[Refused]] = {
    "BadRequest": errors.BadRequest,
    "Unauthorized": errors.Unauthorized,
    "Forbidden": errors.Forbidden,
    "NotFound": errors.NotFound,
    "MethodNotAllowed": errors.Unsupported,
    "NotAcceptable": errors.Unsupported,
    "UnsupportedMediaType": errors.Unsupported,
    "AlreadyExists": errors.AlreadyExists,
    "Conflict": errors.Conflict,
    "Gone": errors.Expired,
    "Expired": errors.Expired,
    "RequestEntityTooLarge": errors.TooLarge,
    "Invalid": errors.Invalid,
    "TooManyRequests": errors.Throttled,
    "ServiceUnavailable": errors.Unavailable,
    "Timeout": errors.TimedOut,
    "ServerTimeout": errors.TimedOut,
    "InternalError": errors.ServerFailed,
}
_BY_CODE: dict[int, type[Refused]] = {
    400: errors.BadRequest,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.Unsupported,
    406: errors.Unsupported,
    409: errors.Conflict,
    410: errors.Expired,
    413: errors.TooLarge,
    415: errors.Unsupported,
    422: errors.Invalid,
    429: errors.Throttled,
    503: errors.Unavailable,
    504: errors.TimedOut,
}


class _Details(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = ""
    causes: list[Cause] | None = None
    retry_after_seconds: int = 0


class Status(msgspec.Struct):
    """The API's own answer when it has no object to give."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    details: _Details | None = None
    code: int = 0


def refused(what: str, response: Response) -> Refused:
    """The error that an answer of no success stands for. `what` says what was asked."""
    status = _status(response)
    header = _seconds(response.headers.get("retry-after", ""))
    if status is None:
        said = _plain(response)
        return _named(what, Failure(code=response.status, message=said, retry_after=header))
    return from_status(what, status, code=response.status, retry_after=header)


def from_status(
    what: str, status: Status, *, code: int = 0, retry_after: float | None = None
) -> Refused:
    """The same for a Status on its own, as a watch sends it. A code that is given goes first."""
    details = status.details or _Details()
    causes = tuple(
        Cause(reason=cause.reason, message=clipped(cause.message), field=clipped(cause.field))
        for cause in (details.causes or [])[:_MOST_CAUSES]
    )
    failure = Failure(
        code=code or status.code,
        reason=clipped(status.reason),
        message=clipped(status.message),
        kind=clipped(details.kind),
        name=clipped(details.name),
        causes=causes,
        retry_after=retry_after if retry_after is not None else details.retry_after_seconds or None,
    )
    return _named(what, failure)


def _named(what: str, failure: Failure) -> Refused:
    if any(cause.reason == "DisruptionBudget" for cause in failure.causes):
        return errors.EvictionBlocked(what, failure)
    if any(cause.reason == "NamespaceTerminating" for cause in failure.causes):
        return errors.NamespaceTerminating(what, failure)
    other = errors.ServerFailed if failure.code >= 500 else Refused
    by_code = _BY_CODE.get(failure.code, other)
    return _BY_REASON.get(failure.reason, by_code)(what, failure)


def _status(response: Response) -> Status | None:
    try:
        status: Status = decoder(Status).decode(response.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return status if status.kind == "Status" else None


def _plain(response: Response) -> str:
    """Plain text is shown, for the server's own router answers so; a proxy's pages are not."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "text/plain" and response.body:
        return clipped(response.body[: 4 * _PLAIN_LENGTH].decode(errors="replace"), _PLAIN_LENGTH)
    shown = clipped(kind, 100) or "no type"
    return f"{len(response.body)} bytes of {shown} where the API answers with a Status"


def _seconds(header: str) -> float | None:
    # The API server sends whole seconds. HTTP allows a date too, which needs two clocks to agree.
    return float(header) if re.fullmatch(r"[0-9]{1,6}", header) else None
