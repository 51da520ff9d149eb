# SPDX-License-Identifier: Apache-2.0
"""Requests that are no review to be heard, each with its HTTP status and one clear line.

Refused
├── NoSuchPath        404
├── WrongMethod       405
├── BodyTooSlow       408 the body did not come within the budget of the review
├── BodyTooLarge      413
├── BodyBroken        400 its framing is wrong, or the connection was lost in the middle of it
├── WrongMediaType    415
├── InvalidJson       400 not JSON, too deep, or nothing that could be written again
├── NotAReview        400 JSON, but not an AdmissionReview that is served here
└── TooManyInFlight   429 with the seconds after which to try again

The name of a class is the `cause` by which `trellis_admission_refused_total` counts it.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar


class Refused(Exception):
    """Its message is for whoever sent the request, and repeats none of its content but names."""

    status: ClassVar[HTTPStatus]
    headers: ClassVar[dict[str, str]] = {}


class NoSuchPath(Refused):
    status = HTTPStatus.NOT_FOUND


class WrongMethod(Refused):
    status = HTTPStatus.METHOD_NOT_ALLOWED
    headers: ClassVar[dict[str, str]] = {"Allow": "POST"}


class BodyTooSlow(Refused):
    status = HTTPStatus.REQUEST_TIMEOUT


class BodyTooLarge(Refused):
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class BodyBroken(Refused):
    status = HTTPStatus.BAD_REQUEST


class WrongMediaType(Refused):
    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class InvalidJson(Refused):
    status = HTTPStatus.BAD_REQUEST


class NotAReview(Refused):
    status = HTTPStatus.BAD_REQUEST


class TooManyInFlight(Refused):
    status = HTTPStatus.TOO_MANY_REQUESTS
    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


CAUSES = tuple(kind.__name__ for kind in Refused.__subclasses__())
