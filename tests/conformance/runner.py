# SPDX-License-Identifier: Apache-2.0
"""Runs probes against one server, several at once, each in a namespace of its own."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import random
import traceback
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.conformance import kinds, probes
from tests.conformance.normalise import Normaliser
from tests.conformance.probe import PATIENCE_SECONDS, REGISTRY, Probe, Registered
from tests.support.api import Api, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

# No vowels and always a digit: it can appear in no word and in no other name.
_LETTERS, _DIGITS = "bcdfghjklmnpqrstvwxz", "23456789"


@dataclass(frozen=True, slots=True)
class Pace:
    """How many probes run at once, and how long one may take and may wait for one thing.

    `leaves` its namespaces behind: the server goes as well.
    """

    at_once: int = 6
    probe_seconds: float = 60.0
    patience: float = PATIENCE_SECONDS
    leaves: bool = False


REAL = Pace()
# One thread answers, and quickly: what has not come after a few seconds does not come.
QUICK = Pace(at_once=24, probe_seconds=40.0, patience=10.0, leaves=True)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one probe observed, normalised, or why it broke; `raw` is what the server said."""

    probe: Registered
    observations: list[dict[str, Any]]
    broken: str | None = None
    raw: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def all_probes() -> list[Registered]:
    """Every probe there is, in a stable order."""
    for found in pkgutil.iter_modules(probes.__path__):
        importlib.import_module(f"{probes.__name__}.{found.name}")
    return [REGISTRY[key] for key in sorted(REGISTRY)]


async def run(
    api: Api, chosen: Iterable[Registered], seed: int, pace: Pace = REAL
) -> dict[str, Seen]:
    """Runs probes in an order that the seed decides: what they see must not depend on it."""
    rng = random.Random(seed)  # noqa: S311  not for secrets
    order = list(chosen)
    rng.shuffle(order)
    await kinds.install(api)
    turns = asyncio.Semaphore(pace.at_once)

    async def one(entry: Registered, identity: str) -> Seen:
        async with turns:
            return await _observe(api, entry, identity, pace)

    async def remove(identity: str) -> None:
        async with turns:
            await _remove_namespace(api, Probe(api, identity, AsyncExitStack()).ns)

    identities = [_identity() for _ in order]
    try:
        seen = await asyncio.gather(*map(one, order, identities))
    finally:
        # Not earlier: sweeping hundreds of namespaces keeps the server's controller busy for
        # minutes, and probes that wait for it would come last.
        if not pace.leaves:
            await asyncio.gather(*map(remove, identities))
    return {outcome.probe.key: outcome for outcome in seen}


async def _observe(api: Api, entry: Registered, identity: str, pace: Pace) -> Seen:
    async with AsyncExitStack() as cleanup:
        p = Probe(api, identity, cleanup, pace.patience)
        try:
            async with asyncio.timeout(pace.probe_seconds):
                await _prepare(p)
                await entry.run(p)
        except Exception:
            return Seen(entry, [], traceback.format_exc())
        names = {**p.hidden, p.id: "<id>"}
        return Seen(entry, normalised(p.recorded, names), raw=p.recorded, names=names)


def normalised(raw: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    return Normaliser(dict(names), datetime.now(UTC)).observations(raw)


async def _prepare(p: Probe) -> None:
    """A namespace with what controllers put into each, so that none of it appears midway."""
    await p.do("POST", p.everywhere("v1", "namespaces"), {"metadata": {"name": p.ns}})
    for path in (("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")):
        await p.until("GET", p.path("v1", *path), lambda answer: answer.status == 200)


async def _remove_namespace(api: Api, name: str) -> None:
    await api.send(Request(method="DELETE", path=f"/api/v1/namespaces/{name}"))


def _identity() -> str:
    """Random even with a fixed seed: two runs on one cluster must not meet."""
    rng = random.SystemRandom()
    return "".join(rng.choice(_LETTERS) + rng.choice(_DIGITS) for _ in range(4))
