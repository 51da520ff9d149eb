# SPDX-License-Identifier: Apache-2.0
"""Definitions at work: a CustomResourceDefinition is accepted, served, and taken away again.

The real server does this in controllers; here it follows each commit of a definition at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.embedded.definitions.fields import selectors
from trellis.embedded.definitions.served import served_versions
from trellis.embedded.definitions.status import CLEANUP, next_status, terminating
from trellis.embedded.fields import Manager, updated

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.core.world import World
    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.records import Record

GROUP, PLURAL = "apiextensions.k8s.io", "customresourcedefinitions"


class Definitions:
    def __init__(self, world: World) -> None:
        self._world = world
        self._shelf = world.store.shelf(GROUP, PLURAL)
        self._leaving: set[str] = set()
        """The names of definitions that only wait for their last objects to go."""

    def load(self) -> None:
        """What a journal brought back is served again."""
        for record in self._shelf.list():
            self._note(record.decoded())
            self._serve(record)

    def committed(self, change: Change) -> None:
        if change.resource == (GROUP, PLURAL):
            if change.deleted:
                self._leaving.discard(change.record.name)
                self._withdraw(change.record.decoded())
                self._others_may_follow(change.record)
            else:
                self._advance(change.record)
        elif change.deleted:
            self._emptied(*change.resource)

    def _advance(self, record: Record) -> None:
        crd = record.decoded()
        if self._note(crd):
            self._clean_up(crd, record)
            return
        status = next_status(crd, self._of_group(crd), self._world.now())
        if status is not None:
            self._write_status(crd, status, record)
            return
        self._serve(record)

    def _note(self, crd: Object) -> bool:
        """Whether it is leaving, which is remembered: objects go much more often than kinds do."""
        name, leaves = crd["metadata"]["name"], "deletionTimestamp" in crd["metadata"]
        (self._leaving.add if leaves else self._leaving.discard)(name)
        return leaves

    def _serve(self, record: Record) -> None:
        crd = record.decoded()
        spec, names = crd["spec"], crd["spec"]["names"]
        versions = [replace(each, since=record.version) for each in served_versions(crd)]
        before = self._world.registry.versions(spec["group"], names["plural"])
        if [_essence(each) for each in before] == [_essence(each) for each in versions]:
            versions = [
                replace(new, since=old.since) for new, old in zip(versions, before, strict=True)
            ]
        self._world.registry.define(spec["group"], names["plural"], versions)
        if versions and not before:
            self._world.store.shelf(spec["group"], names["plural"]).forget()
        if versions:
            values = selectors(versions[0])
            shelf = self._world.store.shelf(spec["group"], names["plural"])
            shelf.reindex(
                lambda held: {name: value(held.decoded()) for name, value in values.items()}
            )

    def _withdraw(self, crd: Object) -> None:
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        self._world.registry.define(group, plural, ())
        self._world.store.shelf(group, plural).forget()

    def _clean_up(self, crd: Object, record: Record) -> None:
        """All objects go before their definition does; those with finalizers are waited for."""
        if CLEANUP not in (crd["metadata"].get("finalizers") or ()):
            return
        shelf = self._world.store.shelf(crd["spec"]["group"], crd["spec"]["names"]["plural"])
        for held in shelf.list():
            self._delete(shelf.resource, held)
        left = len(shelf) > 0
        status = terminating(crd, self._world.now(), waiting=left)
        if left:
            if status != crd.get("status"):
                self._write_status(crd, status, record)
            return
        current = self._shelf.get("", crd["metadata"]["name"])
        if current is not None:
            self._release(current)

    def _release(self, record: Record) -> None:
        crd = record.decoded()
        kept = [each for each in crd["metadata"]["finalizers"] if each != CLEANUP]
        if kept:
            crd["metadata"]["finalizers"] = kept
            self._write(crd, record)
        else:
            self._shelf.remove("", record.name, record.version)

    def _emptied(self, group: str, plural: str) -> None:
        name = f"{plural}.{group}"
        definition = self._shelf.get("", name) if name in self._leaving else None
        if definition is not None:
            self._advance(definition)

    def _delete(self, resource: tuple[str, str], held: Record) -> None:
        shelf = self._world.store.shelf(*resource)
        obj = held.decoded()
        if not obj["metadata"].get("finalizers"):
            shelf.remove(held.namespace, held.name, held.version)
        elif "deletionTimestamp" not in obj["metadata"]:
            obj["metadata"]["deletionTimestamp"] = self._world.now()
            obj["metadata"]["deletionGracePeriodSeconds"] = 0
            shelf.put(obj, held.fields, held.version)

    def _others_may_follow(self, record: Record) -> None:
        """Names that were taken are free now."""
        gone = record.decoded()
        for crd in self._of_group(gone):
            found = self._shelf.get("", crd["metadata"]["name"])
            if found is not None:
                self._advance(found)

    def _of_group(self, crd: Object) -> list[Object]:
        group, name = crd["spec"]["group"], crd["metadata"]["name"]
        held = [record.decoded() for record in self._shelf.list()]
        return [
            each
            for each in held
            if each["spec"]["group"] == group and each["metadata"]["name"] != name
        ]

    def _write_status(self, crd: Object, status: Object, record: Record) -> None:
        new = {**crd, "metadata": dict(crd["metadata"]), "status": status}
        served = self._world.registry.natives[GROUP, "v1", PLURAL]
        manager = Manager(
            name="kube-apiserver",
            operation="Update",
            api_version=served.api_version,
            subresource="status",
            time=self._world.now(),
        )
        updated(new, crd, served, manager)
        self._write(new, record)

    def _write(self, crd: Object, record: Record) -> None:
        self._shelf.put(crd, record.fields, record.version)


def _essence(served: object) -> tuple[object, ...]:
    """What decides how an object is read: nothing else makes stored objects look old."""
    return (served.version, served.storage_version, served.strategy.node.source)  # type: ignore[attr-defined]
