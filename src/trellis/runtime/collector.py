# SPDX-License-Identifier: Apache-2.0
"""How Python's garbage collector is kept from walking tens of thousands of cached objects.

Cached objects are trees without cycles: they are freed without its help. It is for the whole
process, so only whoever owns the process calls this.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Rare while everything is read for the first time, but not never: an API server that cannot be
# reached for hours leaves garbage too.
_LOADING = (1_000_000, 20, 100)
_SETTLED = (50_000, 20, 100)


@contextmanager
def spared(*, tune: bool = True) -> Iterator[None]:
    """While the block lasts everything is being read; what is there at its end is never walked."""
    if not tune:
        yield
        return
    gc.set_threshold(*_LOADING)
    try:
        yield
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_SETTLED)
