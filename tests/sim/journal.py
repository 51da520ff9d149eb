# SPDX-License-Identifier: Apache-2.0
"""What the operator logs: nothing is shown, and what only a mistake of ours can cause is heard."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ERRORS = structlog.make_filtering_bound_logger(logging.ERROR)


@contextmanager
def listening(complain: Callable[[str, str], None]) -> Iterator[None]:
    """Complains of every error that is logged, for the length of a block. Then logs go where they
    went before: other tests of this process look at theirs."""

    def heard(_: Any, __: str, event: structlog.typing.EventDict) -> Any:
        complain("error", _shown(event))
        raise structlog.DropEvent

    before = structlog.get_config() if structlog.is_configured() else None
    # No logger is to remember this: it would be deaf to whoever listens next.
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, heard],
        wrapper_class=_ERRORS,
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.reset_defaults()
        if before is not None:
            structlog.configure(**before)


def _shown(event: structlog.typing.EventDict) -> str:
    told = {name: value for name, value in event.items() if name not in ("event", "exc_info")}
    error = event.get("exc_info")
    shown = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else ""
    return f"{event.get('event')} {shown} {told}"
