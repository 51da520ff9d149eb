# SPDX-License-Identifier: Apache-2.0
"""Structured logs: one line an outcome, JSON for machines, key=value for people.

Whatever is logged may have been written by a stranger: control characters are escaped, so that a
name cannot forge a line, and what looks like a credential never gets out.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, cast

import structlog
from structlog.stdlib import ProcessorFormatter

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

    from trellis.instruments.clock import Clock

Style: TypeAlias = Literal["json", "text"]

REDACTED = "[redacted]"
# Nobody reads more of one value, and patterns are only ever run over so much.
LONGEST_VALUE = 16 << 10
_DEEPEST = 6

_SECRET_NAME = re.compile(
    r".*(token|password|passwd|passphrase|secret|authorization|cookie"
    r"|(api|private|client)[_-]?key([_-]?data)?)",
    re.ASCII | re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"(?P<bearer>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.?[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)"
    r"|(?P<scheme>://)[^/\s:@]{1,100}:[^/\s@]{1,200}(?=@)",
    re.ASCII | re.DOTALL,
)
_PLAIN_WORD = re.compile(r"[!#-<>-~]+", re.ASCII)


def logger(name: str) -> FilteringBoundLogger:
    """The logger of a module. It may be made before `configure` is called."""
    return cast("FilteringBoundLogger", structlog.get_logger(module=name))


def configure(
    clock: Clock, *, stream: TextIO = sys.stderr, level: int = logging.INFO, style: Style = "json"
) -> None:
    """Sends all logs there, those of libraries too. Once a process, before anything is logged."""
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _stamped(clock),
        structlog.processors.format_exc_info,
        redact,
    ]
    render = to_json if style == "json" else to_text
    structlog.configure(
        processors=[*common, render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[_named, *common],
            processors=[ProcessorFormatter.remove_processors_meta, render],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Takes out what looks like a credential, by its name or by its shape."""
    return {name: _redacted(name, value, _DEEPEST) for name, value in event.items()}


def to_json(_: WrappedLogger, __: str, event: EventDict) -> str:
    # Everything outside printable ASCII is escaped, line ends of all kinds among it.
    return json.dumps(event, ensure_ascii=True)


def to_text(_: WrappedLogger, __: str, event: EventDict) -> str:
    rest = dict(event)
    head = [str(rest.pop("timestamp", "")), str(rest.pop("level", "")).upper().ljust(7)]
    said = json.dumps(rest.pop("event", ""))[1:-1]
    trace = str(rest.pop("exception", ""))
    pairs = [f"{name}={_word(value)}" for name, value in rest.items()]
    # A traceback is for people: its lines stay lines, each of them escaped.
    lines = [f"    {json.dumps(line)[1:-1]}" for line in trace.splitlines()]
    return "\n".join([" ".join([*head, said, *pairs]), *lines])


def _named(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event["module"] = event["_record"].name
    return event


def _stamped(clock: Clock) -> Processor:
    def stamp(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["timestamp"] = clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return event

    return stamp


def _redacted(name: str, value: Any, depth: int) -> Any:
    if _SECRET_NAME.fullmatch(name[:200]):
        return REDACTED
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth and isinstance(value, dict):
        return {
            _text(str(key)): _redacted(str(key), inner, depth - 1) for key, inner in value.items()
        }
    if depth and isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_redacted("", inner, depth - 1) for inner in value]
    return _text(str(value))


def _text(value: str) -> str:
    shown = value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + "…"
    return _SECRET_VALUE.sub(
        lambda found: (found["bearer"] or found["scheme"] or "") + REDACTED, shown
    )


def _word(value: Any) -> str:
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=True)
