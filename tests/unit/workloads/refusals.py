# SPDX-License-Identifier: Apache-2.0
"""Servers that refuse what is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.kube.errors import Failure, Forbidden

if TYPE_CHECKING:
    from trellis.kube.transport import Request


def refusing(pattern: str, message: str, *, method: str = "POST") -> Any:
    def before(request: Request) -> None:
        if request.method == method and request.path.endswith(pattern):
            raise Forbidden(str(request), Failure(code=403, reason="Forbidden", message=message))

    return before


def allowing(_: Request) -> None:
    """Nothing is in the way."""
