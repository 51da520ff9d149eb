# SPDX-License-Identifier: Apache-2.0
"""The steps of a write around a strategy, without a server, a store or managed fields.

desk = Desk()
pod = desk.create(POD, POD.new(PROBE))
desk.change(POD, pod, merge_patch(pod, {"spec": {"priority": 5}}))    # raises the refusal
"""

from __future__ import annotations

import json
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance import goldens
from tests.conformance.normalise import Normaliser
from tests.conformance.probe import Probe
from trellis.embedded import refusals
from trellis.embedded.asking import Review, User
from trellis.embedded.copying import copied
from trellis.embedded.natives import plugins, strategy_of
from trellis.embedded.natives.metadata import before_update
from trellis.embedded.schema.decode import decode
from trellis.embedded.schema.node import native_of
from trellis.embedded.served import Circumstances, Served

if TYPE_CHECKING:
    from tests.conformance.natives import Native
    from trellis.embedded.asking import Object

NOW = "2026-01-01T00:00:00Z"
UID = "11111111-1111-4111-8111-111111111111"
ID = "x1"
# Builders of the conformance suite want a probe for its names; nothing is ever sent.
PROBE = Probe(api=None, id=ID, cleanup=AsyncExitStack())  # type: ignore[arg-type]
ADMIN = User(name="admin")
GOLDENS = Path(goldens.FOLDER) / "1.36"


def golden(area: str) -> dict[str, list[dict[str, Any]]]:
    """What the real server said, by the title of the probe."""
    found: dict[str, list[dict[str, Any]]] = json.loads((GOLDENS / f"{area}.json").read_text())
    return found


def normalised(body: Any, **names: str) -> Any:
    """As goldens are written: causes in order, ids and times hidden."""
    shown = Normaliser({ID: "<id>", **names}, datetime.fromisoformat(NOW).astimezone(UTC))
    return shown.observations([{"body": body}])[0]["body"]


@dataclass
class Desk:
    """`stored` is what strategies and plugins can read, by group, plural, namespace and name."""

    stored: dict[tuple[str, str, str, str], Object] = field(default_factory=dict)
    seed: int = 1

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)  # noqa: S311 - not for secrets
        default = {"metadata": {"name": "default", "namespace": PROBE.ns}}
        self.stored.setdefault(("", "serviceaccounts", PROBE.ns, "default"), default)

    def read(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        if name:
            return self.stored.get((group, plural, namespace, name))
        found = [held for key, held in self.stored.items() if key[:2] == (group, plural)]
        return {"items": found}

    def create(self, native: Native, body: Object) -> Object:
        served, strategy = _served(native), _strategy(native)
        new = decode(json.dumps(body).encode(), served).object
        _place(new, native)
        strategy.default(new)
        review = self.review(served, new)
        plugins.mutate(review, self.read, self.rng)
        strategy.default(new)
        new["metadata"] |= {"uid": UID, "creationTimestamp": NOW}
        about = self.about(native, new)
        strategy.prepare_create(new, about)
        self._refuse(native, new, strategy.validate_create(new, about))
        return new

    def change(self, native: Native, old: Object, new: Object, subresource: str = "") -> Object:
        served, strategy = _served(native), _strategy(native)
        new = decode(json.dumps(new).encode(), served).object
        strategy.default(new)
        plugins.mutate(self.review(served, new, old, subresource), self.read, self.rng)
        strategy.default(new)
        about = self.about(native, new, subresource)
        strategy.prepare_update(new, old, about)
        errors = before_update(new, old, native.namespaced)
        self._refuse(native, new, errors + strategy.validate_update(new, old, about))
        return new

    def about(self, native: Native, new: Object, subresource: str = "") -> Circumstances:
        return Circumstances(
            now=NOW,
            namespace=PROBE.ns if native.namespaced else "",
            name=new["metadata"].get("name", ""),
            subresource=subresource,
            user=ADMIN,
            random=self.rng,
            read=self.read,
        )

    def review(
        self, served: Served, new: Object, old: Object | None = None, subresource: str = ""
    ) -> Review:
        return Review(
            user=ADMIN,
            served=served,
            subresource=subresource,
            operation="CREATE" if old is None else "UPDATE",
            namespace=PROBE.ns if served.namespaced else "",
            name=new["metadata"].get("name", ""),
            new=new,
            old=old,
            options={},
            dry_run=False,
        )

    def _refuse(self, native: Native, new: Object, errors: list[Any]) -> None:
        if errors:
            group = native.version.rpartition("/")[0]
            name = new["metadata"].get("name", "")
            raise refusals.invalid(group, native.kind, name, errors)


def _strategy(native: Native) -> Any:
    return strategy_of(native.version.rpartition("/")[0], native.kind)


def _served(native: Native) -> Served:
    group, _, version = native.version.rpartition("/")
    return Served(
        group=group,
        version=version,
        kind=native.kind,
        plural=native.resource,
        singular=native.kind.lower(),
        namespaced=native.namespaced,
        schema=native_of(group, version, native.kind),
        strategy=_strategy(native),
        list_kind=f"{native.kind}List",
    )


def _place(new: Object, native: Native) -> None:
    metadata = new.setdefault("metadata", {})
    if native.namespaced:
        metadata.setdefault("namespace", PROBE.ns)


def without(body: Object, *names: str) -> Object:
    """A copy whose metadata lacks what the desk does not make."""
    shown = copied(body)
    for name in names:
        shown["metadata"].pop(name, None)
    return shown
