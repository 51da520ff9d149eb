# SPDX-License-Identifier: Apache-2.0
"""Namespaces of their own for tests."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api


@asynccontextmanager
async def fresh_namespace(api: Api) -> AsyncIterator[str]:
    """Ready when the controllers have put into it what pods need."""
    name = f"test-{secrets.token_hex(5)}"
    root = f"/api/v1/namespaces/{name}"
    await api.do("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    try:
        for needed in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            await eventually(partial(api.exists, f"{root}/{needed}"), f"{needed} in {name}")
        yield name
    finally:
        await api.do("DELETE", root)
