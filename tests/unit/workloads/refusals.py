# SPDX-License-Identifier: Apache-2.0
"""Servers that refuse what is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.kube.errors import Failure, Forbidden, NamespaceTerminating

if TYPE_CHECKING:
    from trellis.kube.transport import Request


def refusing(pattern: str, message: str, *, method: str = "POST") -> Any:
    def before(request: Request) -> None:
        if request.method == method and request.path.endswith(pattern):
            raise Forbidden(str(request), Failure(code=403, reason="Forbidden", message=message))

    return before


def going(request: Request) -> None:
    """As a server refuses to make anything in a namespace that is being deleted."""
    if request.method == "POST":
        failure = Failure(code=403, reason="Forbidden", message="it is being terminated")
        raise NamespaceTerminating(str(request), failure)


def allowing(_: Request) -> None:
    """Nothing is in the way."""
