# SPDX-License-Identifier: Apache-2.0
"""All of admission in its order: namespaces, plugins, mutating webhooks; policies, webhooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.admission import lifecycle
from trellis.embedded.admission.calling import Caller, Calling
from trellis.embedded.admission.hooks import hooks
from trellis.embedded.admission.matching import Matching
from trellis.embedded.admission.mutating import Mutating, Rounds
from trellis.embedded.admission.policies import Policies, policies
from trellis.embedded.admission.validating import Validating
from trellis.embedded.asking import Review

if TYPE_CHECKING:
    from random import Random

    from trellis.embedded.admission.surroundings import Surroundings
    from trellis.embedded.asking import Object

GROUP = "admissionregistration.k8s.io"
_MUTATING = "mutatingwebhookconfigurations"
_VALIDATING = "validatingwebhookconfigurations"
_POLICIES = "validatingadmissionpolicies"
_BINDINGS = "validatingadmissionpolicybindings"
_NAMESPACES = 4096
Plugin = Callable[[Review], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """What is built in, in order. `mutating` may run twice for one request."""

    mutating: Sequence[Plugin] = ()
    validating: Sequence[Plugin] = ()


class Admission:
    def __init__(
        self,
        about: Surroundings,
        *,
        caller: Caller,
        random: Random,
        plugins: Plugins,
    ) -> None:
        self._about = about
        self._plugins = plugins
        self._namespaces: dict[str, Object | None] = {}
        calling = Calling(caller, random, self._namespace, about.authorize)
        self._mutating = Mutating(calling)
        self._validating = Validating(calling)
        self._webhooks: dict[str, Matching] = {}
        self._policies: Policies | None = None

    async def mutate(self, review: Review) -> None:
        """May replace the review's new object; raises a Refusal."""
        self._plug(review)
        found = self._matching(_MUTATING).find(review)
        if not found:
            return
        rounds = Rounds()
        await self._mutating.run(review, found, rounds)
        if rounds.again:
            self._plug(review)
            await self._mutating.run(review, found, rounds)

    async def validate(self, review: Review) -> None:
        for plugin in self._plugins.validating:
            plugin(review)
        if self._policies is None:
            self._policies = self._compiled()
        self._policies.check(review)
        found = self._matching(_VALIDATING).find(review)
        if found:
            await self._validating.run(review, found)

    def invalidate(self, group: str, plural: str, namespace: str, name: str) -> None:  # noqa: ARG002
        """An object was committed: what was concluded from it before is forgotten."""
        if not group and plural == "namespaces":
            self._namespaces.pop(name, None)
        elif group == GROUP:
            self._webhooks.pop(plural, None)
            if plural in (_POLICIES, _BINDINGS):
                self._policies = None

    def _plug(self, review: Review) -> None:
        lifecycle.check(review, self._namespace)
        for plugin in self._plugins.mutating:
            plugin(review)

    def _namespace(self, name: str) -> Object | None:
        if name not in self._namespaces:
            if len(self._namespaces) >= _NAMESPACES:
                self._namespaces.clear()
            self._namespaces[name] = self._about.reader.get("", "namespaces", "", name)
        return self._namespaces[name]

    def _matching(self, plural: str) -> Matching:
        found = self._webhooks.get(plural)
        if found is None:
            configured = list(hooks(self._about.reader.list(GROUP, plural)))
            found = self._webhooks[plural] = Matching(configured, self._about.catalogue)
        return found

    def _compiled(self) -> Policies:
        found = policies(
            self._about.reader.list(GROUP, _POLICIES), self._about.reader.list(GROUP, _BINDINGS)
        )
        return Policies(found, self._about, self._namespace)
