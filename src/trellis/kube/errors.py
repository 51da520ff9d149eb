# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between us and a Kubernetes API, by what it means to the caller.

KubeError
├── BadConfig            a kubeconfig, its credentials or a service account cannot be used
├── BadName              a name or namespace that cannot be part of a path
├── Unreachable          the request never left: nothing was done
│   └── Untrusted        no secure connection can be had: the server is not who it should be
├── NoContact            what answers is no Kubernetes API, or will not have us
├── Ambiguous            the connection was lost or time ran out after it left: it may be done
├── Unreadable           an answer came that is not what the API promises
├── Stalled              a watch went silent
├── Outdated             it had to wait for so long that it is to be decided on anew: not done
└── Refused              the server answered that it will not
    ├── BadRequest       400
    ├── Unauthorized     401 credentials are missing, wrong or revoked
    ├── Forbidden        403
    │   └── NamespaceTerminating  nothing can be made there any more
    ├── NotFound         404
    ├── Unsupported      405, 406, 415
    ├── AlreadyExists    409
    ├── Conflict         409 the object has changed since it was read, or is not the one meant
    ├── Expired          410 that part of history is gone: read everything anew
    ├── TooLarge         413
    ├── Invalid          422 with one cause a field
    ├── Throttled        429 never processed: again after `retry_after`
    ├── EvictionBlocked  429 a disruption budget forbids the eviction for now
    ├── Unavailable      503
    ├── TimedOut         504 the server gave up waiting: it may be done
    └── ServerFailed     any other 5xx: it may be done

Messages are clipped, and never hold a token or the content of an object that was read.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

_MESSAGE_LENGTH = 1000


class KubeError(Exception):
    """Its message is one line that a person can act on."""

    may_have_happened: ClassVar[bool] = False
    """Whether a write that ended so may have been carried out: read before writing again."""


class BadConfig(KubeError):
    pass


class BadName(KubeError):
    pass


class Unreachable(KubeError):
    pass


class Untrusted(Unreachable):
    pass


class NoContact(KubeError):
    pass


class Ambiguous(KubeError):
    may_have_happened = True


class Unreadable(KubeError):
    may_have_happened = True


class Stalled(KubeError):
    pass


class Outdated(KubeError):
    pass


class Cause(msgspec.Struct, frozen=True):
    """One of the reasons of a refusal: which field, why, in which words."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What the server said when it refused. `kind` and `name` are of the object it speaks of."""

    code: int
    reason: str = ""
    message: str = ""
    kind: str = ""
    name: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after: float | None = None


class Refused(KubeError):
    def __init__(self, what: str, failure: Failure) -> None:
        said = clipped(failure.message or failure.reason or "without a reason")
        super().__init__(f"{what}: {failure.code} {said}")
        self.failure = failure

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, if it does."""
        return self.failure.retry_after


class BadRequest(Refused):
    pass


class Unauthorized(Refused):
    pass


class Forbidden(Refused):
    pass


class NamespaceTerminating(Forbidden):
    pass


class NotFound(Refused):
    @property
    def unserved(self) -> bool:
        """Whether it is the kind that the server does not know, rather than one object."""
        return not self.failure.name


class Unsupported(Refused):
    pass


class AlreadyExists(Refused):
    pass


class Conflict(Refused):
    pass


class Expired(Refused):
    pass


class TooLarge(Refused):
    pass


class Invalid(Refused):
    @property
    def causes(self) -> tuple[Cause, ...]:
        return self.failure.causes


class Throttled(Refused):
    pass


class EvictionBlocked(Refused):
    pass


class Unavailable(Refused):
    pass


class TimedOut(Refused):
    may_have_happened = True


class ServerFailed(Refused):
    may_have_happened = True


def clipped(text: str, length: int = _MESSAGE_LENGTH) -> str:
    """The text on one line, printable, and no longer than that."""
    line = " ".join(text[: 4 * length].split())
    shown = "".join(char if char.isprintable() else "�" for char in line[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1] + "…"
