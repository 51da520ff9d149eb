# SPDX-License-Identifier: Apache-2.0
"""Which webhooks a request concerns. Rules are matched once per kind of request. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.admission.rules import Question, exempt, target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.embedded.admission.hooks import Hook
    from trellis.embedded.admission.surroundings import Catalogue
    from trellis.embedded.asking import Review
    from trellis.embedded.served import Served


@dataclass(frozen=True, slots=True)
class Match:
    """`target` is the version of the resource in which the webhook wants to see it."""

    hook: Hook
    target: Served


def equivalents(served: Served, catalogue: Catalogue) -> list[Served]:
    """Other versions of a custom resource. Those of native kinds would need conversion."""
    if not served.custom:
        return []
    return [
        each
        for each in catalogue
        if each.custom and (each.group, each.plural) == (served.group, served.plural)
    ]


class Matching:
    """The webhooks of one sort, by what their rules say."""

    def __init__(self, hooks: Sequence[Hook], catalogue: Catalogue) -> None:
        self._hooks = hooks
        self._catalogue = catalogue
        self._epoch = catalogue.epoch
        self._known: dict[Question, list[Match]] = {}

    def find(self, review: Review) -> list[Match]:
        if not self._hooks:
            return []
        if self._epoch != self._catalogue.epoch:
            self._epoch = self._catalogue.epoch
            self._known.clear()
        asked = Question.of(review)
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = list(self._matches(asked, review.served))
        return found

    def _matches(self, asked: Question, served: Served) -> Iterator[Match]:
        if exempt(served):
            return
        others = equivalents(served, self._catalogue)
        for hook in self._hooks:
            wanted = target(hook.rules, asked, served, others if hook.equivalent else ())
            if wanted is not None:
                yield Match(hook, wanted)
