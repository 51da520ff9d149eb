# SPDX-License-Identifier: Apache-2.0
"""What the operator logs: nothing is shown, and what only a mistake of ours can cause is heard."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_hearers: list[Callable[[str, str], None]] = []


@contextmanager
def listening(complain: Callable[[str, str], None]) -> Iterator[None]:
    """Complains of every error that is logged, for the length of a block."""
    _configure()
    _hearers.append(complain)
    try:
        yield
    finally:
        _hearers.pop()


def _configure() -> None:
    if not structlog.is_configured():
        structlog.configure(
            processors=[structlog.contextvars.merge_contextvars, _heard],
            wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
            cache_logger_on_first_use=True,
        )


def _heard(_: Any, __: str, event: structlog.typing.EventDict) -> Any:
    told = {name: value for name, value in event.items() if name not in ("event", "exc_info")}
    error = event.get("exc_info")
    shown = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else ""
    for hearer in _hearers:
        hearer("error", f"{event.get('event')} {shown} {told}")
    raise structlog.DropEvent
