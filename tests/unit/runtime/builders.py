# SPDX-License-Identifier: Apache-2.0
"""A toy world: boxes that ask for a number of balls. Short words with boring defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec import field

from trellis.api.meta import Key, Metadata, Object, OwnerReference, Resource, Time, Value
from trellis.kube.events import Change, Delta, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BOXES = Resource("toys.dev", "v1", "Box", "boxes")
BALLS = Resource("toys.dev", "v1", "Ball", "balls")
NAMESPACE = "nursery"
GONE = Time.fromisoformat("2026-01-01T00:00:00+00:00")


class BoxSpec(Value, frozen=True, kw_only=True):
    balls: int = 0
    colour: str = "red"


class BoxStatus(Value, frozen=True, kw_only=True):
    balls: int = 0
    words: tuple[str, ...] = ()
    note: str | None = None


class Box(Object, frozen=True, kw_only=True):
    resource: ClassVar = BOXES

    spec: BoxSpec = BoxSpec()
    status: BoxStatus = BoxStatus()


class BallSpec(Value, frozen=True, kw_only=True):
    colour: str = "red"
    options: dict[str, str] = field(default_factory=dict)
    template: msgspec.Raw = msgspec.Raw(b"{}")


class Ball(Object, frozen=True, kw_only=True):
    resource: ClassVar = BALLS

    spec: BallSpec = BallSpec()


def an_owner(uid: str = "uid-box", name: str = "", *, controller: bool = True) -> OwnerReference:
    return OwnerReference(
        api_version="toys.dev/v1",
        kind="Box",
        name=name or uid.removeprefix("uid-"),
        uid=uid,
        controller=controller,
    )


def a_box(name: str = "box", *, balls: int = 0, **metadata: Any) -> Box:
    given = {"namespace": NAMESPACE, "uid": f"uid-{name}", "resource_version": "1", **metadata}
    return Box(metadata=Metadata(name=name, **given), spec=BoxSpec(balls=balls))


def a_ball(
    name: str, *, colour: str = "red", owner: str | None = "uid-box", **metadata: Any
) -> Ball:
    given = {"namespace": NAMESPACE, "uid": f"uid-{name}", "resource_version": "1", **metadata}
    if owner:
        given["owner_references"] = (an_owner(owner), *given.get("owner_references", ()))
    return Ball(metadata=Metadata(name=name, **given), spec=BallSpec(colour=colour))


def a_wanted_ball(name: str, *, colour: str = "red", owner: str = "uid-box", **rest: Any) -> Ball:
    """One that is to be made: what the server decides is not known yet."""
    return a_ball(name, colour=colour, owner=owner, uid="", resource_version="", **rest)


def key(name: str) -> Key:
    return Key(NAMESPACE, name)


def a_snapshot(objects: Iterable[Any], version: int) -> Snapshot[Any]:
    return Snapshot(list(objects), str(version))


def a_delta(version: int, *present: Any, gone: Sequence[Any] = ()) -> Delta[Any]:
    changes = [Change(NAMESPACE, one.metadata.name, one) for one in present]
    changes += [Change(NAMESPACE, one.metadata.name, None) for one in gone]
    return Delta(changes, str(version))
