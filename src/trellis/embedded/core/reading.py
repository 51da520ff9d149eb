# SPDX-License-Identifier: Apache-2.0
"""Objects read: one by name, or a page of a list as of one version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.selecting.fields import NAME, NAMESPACE
from trellis.embedded.store.interest import Interest
from trellis.embedded.store.problems import TooOld
from trellis.embedded.wire.continuing import continued, token
from trellis.embedded.wire.options import EXACT, NOT_OLDER, list_version, object_version

if TYPE_CHECKING:
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.options import ListOptions

FUTURE_SECONDS = 3.0
# What watches are commonly pinned to, so that the store can find them by it.
_PINNED = "spec.nodeName"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Records as of a version; `token` continues where they end, `remaining` if that is known."""

    records: list[Record]
    version: int
    token: str = ""
    remaining: int | None = None


async def get(world: World, call: Call, version: str) -> Record:
    served = call.served
    await _not_of_the_future(world, object_version(version))
    record = world.shelf(served).get(call.namespace, call.name)
    if record is None:
        raise refusals.not_found(served.group, served.plural, call.name)
    return record


async def page(world: World, call: Call, options: ListOptions) -> Page:
    interest = interest_in(call, options)
    start = _start(call, options)
    await _not_of_the_future(world, start.version or 0)
    version = start.version if start.exact else None
    shelf = world.shelf(call.served)
    try:
        found = shelf.list(interest.namespace, at=version, after=start.after)
    except TooOld as old:
        raise _expired(old, options) from None
    matching = [record for record in found if interest.admits(record)]
    shown = matching if not start.limit else matching[: start.limit]
    at = version or world.store.version
    # Like the real server, it does not look whether what follows would match.
    full = bool(start.limit) and len(shown) == start.limit
    if not full or shown[-1] is found[-1]:
        return Page(records=shown, version=at)
    plain = not (interest.selective or interest.name is not None)
    last = shown[-1].name if call.namespace else shown[-1].key
    remaining = len(matching) - len(shown) if plain else None
    return Page(records=shown, version=at, token=token(at, last), remaining=remaining)


def interest_in(call: Call, options: ListOptions) -> Interest:
    """What selectors and the path ask for; exact wishes apart, because those are indexed."""
    labels, fields = options.labels, options.fields
    rest = tuple(
        term for term in fields.terms if not (term[1] and term[0] in {NAME, NAMESPACE, _PINNED})
    )
    # A name or a namespace that is asked for twice, differently, is nobody's.
    doubtful = len(fields.terms) - len(rest) > len({term[0] for term in fields.terms})
    terms = fields.terms if doubtful else rest
    pinned = fields.equal(_PINNED)
    namespace = call.namespace or fields.equal(NAMESPACE)
    if call.namespace and fields.equal(NAMESPACE) not in {None, call.namespace}:
        terms = fields.terms
    return Interest(
        namespace=namespace or None,
        name=fields.equal(NAME),
        pinned=None if pinned is None else (_PINNED, pinned),
        labels=None if labels.everything else labels.matches,
        fields=(
            (lambda record: all((record.field(n) == v) is same for n, same, v in terms))
            if terms
            else None
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    version: int | None
    exact: bool
    after: str
    limit: int


def _start(call: Call, options: ListOptions) -> _Start:
    """Where a list begins: with a token where the last page ended, else where it says."""
    if options.continued:
        return _continued(call, options)
    version = list_version(options.resource_version)
    limit = options.limit
    if options.resource_version == "0":
        # Served from the real server's cache, which does not page.
        return _Start(version=None, exact=False, after="", limit=0)
    exact = options.match == EXACT or (bool(limit) and bool(version) and options.match != NOT_OLDER)
    return _Start(version=version or None, exact=exact, after="", limit=limit)


def _continued(call: Call, options: ListOptions) -> _Start:
    if options.resource_version not in {"", "0"}:
        raise refusals.bad_request("specifying resource version is not allowed when using continue")
    found = continued(options.continued)
    version = None if found.version < 0 else found.version
    # Within a namespace a token holds the name alone; keys begin with the namespace.
    after = f"{call.namespace}/{found.after}" if call.namespace else found.after
    return _Start(version=version, exact=version is not None, after=after, limit=options.limit)


async def _not_of_the_future(world: World, version: int) -> None:
    """A version that is still to come may come soon; for a while it is waited for."""
    deadline = world.clock.monotonic() + FUTURE_SECONDS
    while version > world.store.version:
        if world.clock.monotonic() >= deadline:
            raise of_the_future(version, world.store.version)
        await world.clock.sleep(0.05)


def of_the_future(version: int, current: int) -> refusals.Refusal:
    message = f"Timeout: Too large resource version: {version}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause], "retryAfterSeconds": 1}
    return refusals.Refusal(504, "Timeout", message, details, {"Retry-After": "1"})


def expired(message: str) -> refusals.Refusal:
    return refusals.Refusal(410, "Expired", message)


def _expired(old: TooOld, options: ListOptions) -> refusals.Refusal:
    if options.continued:
        return expired(
            "The provided continue parameter is too old to display a consistent list result. You "
            "can start a new list without the continue parameter."
        )
    return expired(f"too old resource version: {old.asked} ({old.oldest})")
