# SPDX-License-Identifier: Apache-2.0
"""Kinds of others, as if whoever defines them were installed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@asynccontextmanager
async def served(api: Api, definition: dict[str, Any], path: str) -> AsyncIterator[None]:
    """A cluster in which a kind is served under that path, for the length of a block."""
    name = definition["metadata"]["name"]
    await api.do("POST", DEFINITIONS, definition)
    try:
        await eventually(partial(api.exists, path), f"{name} to be served")
        yield
    finally:
        await api.do("DELETE", f"{DEFINITIONS}/{name}")

        async def gone() -> bool:
            return not await api.exists(f"{DEFINITIONS}/{name}")

        await eventually(gone, f"{name} to be gone")
