# SPDX-License-Identifier: Apache-2.0
"""The kinds of objects that a replica of a set is made of, each with how it is made and told. Pure.

Event texts never name the replica: the same done for five hundred of them is one event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from trellis.api.meta import Key, Object
from trellis.api.reasons import events
from trellis.runtime.converged import Converged
from trellis.runtime.notes import Note
from trellis.workloads.members import AT_ONCE, Terms, clique, compare_clique
from trellis.workloads.podcliqueset.comparing import (
    compare_autoscaler,
    compare_group,
    compare_service,
)
from trellis.workloads.podcliqueset.desired import autoscalers, scaling_group, service
from trellis.workloads.trouble import Trouble, trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.core.autoscaler import HorizontalPodAutoscaler
    from trellis.api.core.service import Service
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.reasons import Reason
    from trellis.runtime.cache import Cache
    from trellis.runtime.plan import Comparison
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Outline
    from trellis.workloads.trouble import Written

T = TypeVar("T", bound=Object)

Live: TypeAlias = Callable[[Key], Any]
"""What there is of a kind under that key, if anything."""


@dataclass(frozen=True, slots=True)
class Around:
    """What there is, and on which terms PodCliques get a new template."""

    live: Live
    terms: Terms = AT_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of events. What has none is not worth an event."""

    created: Reason | None = None
    changed: Reason | None = None
    deleted: Reason | None = None
    write_failed: Reason | None = None
    delete_failed: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    """`wants`: what a replica is to have of it, given what there is."""

    what: str
    cache: Cache[T]
    compare: Comparison
    wants: Callable[[Outline, int, Around], Iterable[T]]
    words: Words = field(default_factory=Words)

    def trouble(self, written: Written) -> Trouble | None:
        """What is wrong, as it can be told again and again: the same is equal each time."""
        found = trouble((written,))
        return found and replace(found, message=f"{self.what}: {found.message}", error=None)

    def notes(self, written: Written) -> Iterator[Note]:
        """One event for all that was done of a sort, and one for what went wrong."""
        if isinstance(written, Converged):
            done = (
                (self.words.created, "made", written.created),
                (self.words.changed, "changed", written.patched),
                (self.words.deleted, "deleted", written.deleted),
            )
            for word, verb, names in done:
                if word is not None and names:
                    yield Note(word.token, f"{len(names)} {self.what}{_s(names)} {verb}")
        if (found := self.trouble(written)) is not None:
            word = self.words.delete_failed if _is_deletion(written) else self.words.write_failed
            yield Note((word or found.reason).token, found.message, "Warning")


def services(caches: Caches) -> Kind[Service]:
    return Kind(
        what="Service",
        cache=caches.services,
        compare=compare_service,
        wants=lambda outline, replica, _: (service(outline, replica),),
    )


def cliques(caches: Caches) -> Kind[PodClique]:
    return Kind(
        what="PodClique",
        cache=caches.cliques,
        compare=compare_clique,
        wants=_cliques,
        words=Words(
            created=events.CLIQUE_WRITTEN,
            changed=events.CLIQUE_WRITTEN,
            deleted=events.CLIQUE_DELETED,
            write_failed=events.CLIQUE_WRITE_FAILED,
            delete_failed=events.CLIQUE_DELETE_FAILED,
        ),
    )


def groups(caches: Caches) -> Kind[PodCliqueScalingGroup]:
    return Kind(
        what="PodCliqueScalingGroup",
        cache=caches.groups,
        compare=compare_group,
        wants=_groups,
        words=Words(
            created=events.GROUP_CREATED,
            deleted=events.GROUP_DELETED,
            write_failed=events.GROUP_WRITE_FAILED,
            delete_failed=events.GROUP_DELETE_FAILED,
        ),
    )


def scalers(caches: Caches) -> Kind[HorizontalPodAutoscaler]:
    return Kind(
        what="HorizontalPodAutoscaler",
        cache=caches.autoscalers,
        compare=compare_autoscaler,
        wants=lambda outline, replica, _: autoscalers(outline, replica),
    )


def _cliques(outline: Outline, replica: int, around: Around) -> Iterator[PodClique]:
    namespace = outline.set.metadata.namespace
    for member in outline.alone(replica):
        live = around.live(Key(namespace, member.name))
        yield clique(outline, member, outline.set, live, around.terms)


def _groups(outline: Outline, replica: int, around: Around) -> Iterator[PodCliqueScalingGroup]:
    namespace = outline.set.metadata.namespace
    for template in outline.groups.values():
        known = around.live(Key(namespace, outline.group_name(replica, template)))
        yield scaling_group(outline, replica, template, known)


def _is_deletion(written: Written) -> bool:
    refused = written.refused if isinstance(written, Converged) else ()
    return bool(refused) and refused[0].verb == "delete"


def _s(names: tuple[str, ...]) -> str:
    return "" if len(names) == 1 else "s"
