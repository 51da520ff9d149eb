# SPDX-License-Identifier: Apache-2.0
"""What a process of the operator makes once, made once for all that run here one after the other.

Types, tables and metrics: nothing that a story could change, and without it half of the time goes
into making them. Everything that decides anything is made anew in every life of every operator.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import trellis.embedded.core.cluster
import trellis.runtime.cache
from trellis.embedded.core import builtin
from trellis.instruments.metrics import Meter
from trellis.runtime import sharing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.served import Served


@cache
def _natives() -> dict[tuple[str, str, str], Served]:
    return builtin.natives()


def prepare() -> None:
    """To be called before anything is made."""
    vars(trellis.runtime.cache)["sharing"] = cache(sharing.sharing)
    vars(trellis.embedded.core.cluster)["natives"] = lambda: dict(_natives())


@contextmanager
def collected() -> Iterator[None]:
    """No garbage is collected while a story is told: when that happens hangs on what was told
    before, and what it ends (a generator that waits, say) would be ended at another moment."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def settled() -> None:
    """What is there now is there for good, and need not be looked through again."""
    gc.collect()
    gc.freeze()


class Uncounted(Meter):
    """Counts nothing: nobody reads it."""

    def counter(self, *_: Any) -> Any:
        return _NOTHING

    def gauge(self, *_: Any) -> Any:
        return _NOTHING

    def histogram(self, *_: Any) -> Any:
        return _NOTHING


class _Nothing:
    def labels(self, *_: str) -> _Nothing:
        return self

    def inc(self, *_: float) -> None:
        pass

    def observe(self, _: float) -> None:
        pass

    def set(self, _: float) -> None:
        pass

    def set_function(self, _: Any) -> None:
        pass


_NOTHING = _Nothing()
