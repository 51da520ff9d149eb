# SPDX-License-Identifier: Apache-2.0
"""The nouns of what is asked: which objects, which change, which deletion. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from trellis.kube.codec import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.kube.codec import Body
    from trellis.kube.transport import Pairs

DRY_RUN: Pairs = (("dryRun", "All"),)


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a collection, by selectors in the API's own syntax; empty means all."""

    labels: str = ""
    fields: str = ""

    @property
    def query(self) -> Pairs:
        pairs = (("labelSelector", self.labels), ("fieldSelector", self.fields))
        return tuple((name, value) for name, value in pairs if value)


EVERYTHING = Selection()


class PatchType(Enum):
    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    # The server reads YAML here, and JSON is YAML.
    APPLY = "application/apply-patch+yaml"


class Patch(msgspec.Struct, frozen=True):
    """A change and the language it is written in. `force` takes fields over from other managers."""

    type: PatchType
    body: bytes
    force: bool = False


def json_patch(operations: Sequence[Any] | bytes) -> Patch:
    return Patch(PatchType.JSON, encode(operations))


def merge_patch(body: Body) -> Patch:
    return Patch(PatchType.MERGE, encode(body))


def strategic_patch(body: Body) -> Patch:
    """For built-in kinds only: the server refuses it for custom ones."""
    return Patch(PatchType.STRATEGIC, encode(body))


def apply_patch(body: Body, *, force: bool = False) -> Patch:
    return Patch(PatchType.APPLY, encode(body), force)


class _Preconditions(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _DeleteOptions(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    preconditions: _Preconditions | None = None
    propagation_policy: str = ""
    grace_period_seconds: int | None = None
    dry_run: tuple[str, ...] = ()


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """How to delete. With `uid`, a later object of the same name is safe from it."""

    uid: str = ""
    resource_version: str = ""
    propagation: Literal["", "Background", "Foreground", "Orphan"] = ""
    grace_seconds: int | None = None

    def body(self, *, dry_run: bool) -> bytes:
        guarded = self.uid or self.resource_version
        options = _DeleteOptions(
            preconditions=_Preconditions(self.uid, self.resource_version) if guarded else None,
            propagation_policy=self.propagation,
            grace_period_seconds=self.grace_seconds,
            dry_run=("All",) if dry_run else (),
        )
        return encode(options)


PLAIN_DELETION = Deletion()
