# SPDX-License-Identifier: Apache-2.0
"""A custom kind of a probe's own: `things` of the group `<id>.example.com`, gone afterwards.

    things = await own_kind(p, {"type": "object", "properties": {"a": {"type": "string"}}})
    await p.see("POST", things.path(), things.new("x", {"a": "1"}))

The real server delays the first creation of a new kind's object by two seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import DEFINITIONS, definition, schema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tests.conformance.probe import Probe
    from tests.support.api import Answer

PLURAL, KIND = "things", "Thing"


@dataclass(frozen=True, slots=True)
class OwnKind:
    p: Probe
    scope: str = "Namespaced"

    @property
    def group(self) -> str:
        return f"{self.p.id}.example.com"

    @property
    def definition_path(self) -> str:
        return f"{DEFINITIONS}/{PLURAL}.{self.group}"

    def path(self, *more: str, version: str = "v1") -> str:
        if self.scope == "Cluster":
            return self.p.everywhere(f"{self.group}/{version}", PLURAL, *more)
        return self.p.path(f"{self.group}/{version}", PLURAL, *more)

    def new(self, name: str, spec: Any = None, **more: Any) -> dict[str, Any]:
        """A thing. `more` are further fields at the top; metadata given there is added to."""
        given = {"spec": spec} if spec is not None else {}
        metadata = {"name": name, **more.pop("metadata", {})}
        base = {"apiVersion": f"{self.group}/v1", "kind": KIND, "metadata": metadata}
        return {**base, **given, **more}

    async def alter(self, *operations: dict[str, Any]) -> None:
        """Changes the definition by JSON patch. The server follows later: wait for what changes."""
        await self.p.do("PATCH", self.definition_path, list(operations), patch="json")

    async def until_refused(self, body: dict[str, Any]) -> None:
        """Waits until a changed definition is in force, so that this thing is refused."""
        await self._tried(body, lambda answer: answer.status == 422)

    async def until_accepted(
        self, body: dict[str, Any], shows: Callable[[Any], bool] = lambda _: True
    ) -> None:
        """The same, so that this thing is accepted and comes back as wanted."""
        await self._tried(body, lambda answer: answer.status == 201 and shows(answer.body))

    async def _tried(self, body: dict[str, Any], ready: Callable[[Answer], bool]) -> None:
        await self.p.until("POST", self.path(), ready, body=body, query={"dryRun": "All"})
        await self.until_served()

    async def until_served(self, version: str = "v1") -> None:
        """A new or changed kind answers 404 and then 429 while the server opens its storage.

        Even after that the server may open it once more, and lists are 429 again. Its delay of
        the first creation outlasts this, so a probe lists only after it has created something.
        """
        await self.p.until("GET", self.path(version=version), lambda a: a.status == 200)


def own_definition(p: Probe, spec: Any = None, **version: Any) -> dict[str, Any]:
    """The definition of things: `spec` is the schema of that field, `version` adds to v1."""
    given = {"spec": spec} if spec is not None else {}
    return definition(f"{p.id}.example.com", PLURAL, KIND, {"schema": schema(**given), **version})


async def own_kind(p: Probe, spec: Any = None, **version: Any) -> OwnKind:
    """Creates the kind and waits until every version of it is served."""
    return await install(p, own_definition(p, spec, **version))


async def install(p: Probe, crd: dict[str, Any]) -> OwnKind:
    await p.do("POST", DEFINITIONS, crd)
    p.cleanup.push_async_callback(remover(p, crd))
    own = OwnKind(p, crd["spec"]["scope"])
    # It is served as soon as its names are accepted, shortly before it is established.
    await p.until("GET", own.definition_path, has_condition("Established", status="True"))
    for version in crd["spec"]["versions"]:
        if version["served"]:
            await own.until_served(version["name"])
    return own


def has_condition(kind: str, **wanted: str) -> Callable[[Answer], bool]:
    def ready(answer: Answer) -> bool:
        conditions = answer.body["status"]["conditions"] or []
        return any({"type": kind, **wanted}.items() <= one.items() for one in conditions)

    return ready


def remover(p: Probe, crd: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    """Deletes a definition that may be gone already."""
    return lambda: p.ask("DELETE", f"{DEFINITIONS}/{crd['metadata']['name']}")


async def see_creations(p: Probe, spec_schema: dict[str, Any], specs: Iterable[Any]) -> None:
    """Defines a kind and sees what becomes of a thing with each spec."""
    things = await own_kind(p, spec_schema)
    for number, spec in enumerate(specs, 1):
        thing = things.new(f"x{number}", spec)
        await p.see("POST", things.path(), thing, pick=spec_of, note=f"spec = {spec!r}")


def spec_of(body: dict[str, Any]) -> Any:
    return body.get("spec", "no spec")
