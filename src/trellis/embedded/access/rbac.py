# SPDX-License-Identifier: Apache-2.0
"""Who may do what: roles and bindings as stored, in a form that answers in a microsecond.

Nothing is read twice until `invalidate` says that it changed. It never writes, and knows no
request: only users, namespaces and rules.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.embedded.access import rules
from trellis.embedded.access.accounts import split_user_name
from trellis.embedded.asking import MASTERS, Attributes, Object, User
from trellis.embedded.refusals import qualified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.embedded.access.reading import Reader
    from trellis.embedded.access.rules import Rule

GROUP = "rbac.authorization.k8s.io"
# Names of users, verbs and paths are anybody's: what is remembered of them has a bound.
_REMEMBERED = 4096
Decision = tuple[bool, str]
Subject = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """What one binding gives one subject: rules, or why there are none."""

    source: str
    rules: Sequence[Rule] = ()
    problem: str = ""


@dataclass(slots=True)
class _Powers:
    """All that one user may do in one namespace, and answers given before."""

    grants: Sequence[Grant]
    refusal: str
    asked: dict[tuple[str, ...], tuple[tuple[Any, str], ...]] = field(default_factory=dict)

    def decide(self, wanted: Attributes) -> Decision:
        key = (wanted.verb, wanted.group, wanted.resource, wanted.subresource, wanted.path)
        found = self.asked.get(key)
        if found is None:
            if len(self.asked) > _REMEMBERED:
                self.asked.clear()
            found = self.asked[key] = tuple(self._matching(wanted))
        for names, source in found:
            if not names or wanted.name in names:
                return True, source
        return False, self.refusal

    def _matching(self, wanted: Attributes) -> Iterator[tuple[Any, str]]:
        """Names (none for any) and source of each rule that allows it, were the name right."""
        for grant in self.grants:
            for rule in grant.rules:
                if not rules.allows_verb(rule, wanted.verb):
                    continue
                if not wanted.resource:
                    if rules.allows_path(rule, wanted.path):
                        yield (), grant.source
                elif rules.allows_resource(rule, wanted.group, wanted.resource, wanted.subresource):
                    yield frozenset(rules.values(rule, "resourceNames")), grant.source


class Rbac:
    """The authorizer. `reader` is asked again only for what changed."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._bindings: dict[str, dict[Subject, list[tuple[int, Object, Object]]]] = {}
        """By namespace, the cluster's under "": bindings by subject, with their place."""
        self._powers: dict[str, dict[tuple[str, tuple[str, ...]], _Powers]] = {}

    def invalidate(self, plural: str, namespace: str) -> None:
        """A role or binding was written."""
        if plural.endswith("bindings"):
            self._bindings.pop(namespace, None)
        if namespace:
            self._powers.pop(namespace, None)
        else:
            self._powers.clear()

    def authorize(self, wanted: Attributes) -> Decision:
        user = wanted.user
        if MASTERS in user.groups:
            return True, ""
        known = self._powers.get(wanted.namespace)
        if known is None:
            if len(self._powers) > _REMEMBERED:
                self._powers.clear()
            known = self._powers[wanted.namespace] = {}
        key = (user.name, user.groups)
        powers = known.get(key)
        if powers is None:
            if len(known) > _REMEMBERED:
                known.clear()
            powers = known[key] = self._gather(user, wanted.namespace)
        return powers.decide(wanted)

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], list[str]]:
        """All rules that apply to a user, and what could not be found."""
        grants = list(self.grants(user, namespace))
        found = [rule for grant in grants for rule in grant.rules]
        return found, [grant.problem for grant in grants if grant.problem]

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """Those of the whole cluster first, each in the order of the bindings' names."""
        yield from self._grants(user, "")
        if namespace:
            yield from self._grants(user, namespace)

    def role_rules(self, reference: Object, namespace: str) -> Sequence[Rule] | None:
        """The rules of the role that a binding refers to; None if it is not there."""
        where, plural = (
            (namespace, "roles") if reference["kind"] == "Role" else ("", "clusterroles")
        )
        role = self._reader.get(GROUP, plural, where, reference["name"])
        return None if role is None else role.get("rules") or ()

    def _gather(self, user: User, namespace: str) -> _Powers:
        grants = list(self.grants(user, namespace))
        problems = list(dict.fromkeys(grant.problem for grant in grants if grant.problem))
        return _Powers(grants, f"RBAC: {aggregate(problems)}" if problems else "")

    def _grants(self, user: User, namespace: str) -> Iterator[Grant]:
        by_subject = self._bindings.get(namespace)
        if by_subject is None:
            by_subject = self._bindings[namespace] = self._indexed(namespace)
        subjects: list[Subject] = [("User", user.name), *(("Group", each) for each in user.groups)]
        if account := split_user_name(user.name):
            subjects.append(("ServiceAccount", *account))
        found: dict[int, tuple[Object, Object]] = {}
        for subject in subjects:
            for place, binding, entry in by_subject.get(subject, ()):
                # A binding that names a user twice applies by the subject that it names first.
                if place not in found or _position(binding, entry) < _position(*found[place]):
                    found[place] = binding, entry
        for _, (binding, entry) in sorted(found.items(), key=lambda item: item[0]):
            yield self._grant(binding, entry, namespace)

    def _grant(self, binding: Object, subject: Object, namespace: str) -> Grant:
        reference = binding["roleRef"]
        found = self.role_rules(reference, namespace)
        if found is None:
            kind = qualified(GROUP, reference["kind"].lower())
            return Grant("", problem=f'{kind} "{reference["name"]}" not found')
        return Grant(_source(binding, subject, namespace), found)

    def _indexed(self, namespace: str) -> dict[Subject, list[tuple[int, Object, Object]]]:
        plural = "rolebindings" if namespace else "clusterrolebindings"
        index: dict[Subject, list[tuple[int, Object, Object]]] = defaultdict(list)
        for place, binding in enumerate(self._reader.list(GROUP, plural, namespace)):
            for subject in binding.get("subjects") or ():
                if key := _subject(subject, namespace):
                    index[key].append((place, binding, subject))
        return dict(index)


def _position(binding: Object, subject: Object) -> int:
    return next(i for i, each in enumerate(binding["subjects"]) if each is subject)


def _subject(subject: Object, namespace: str) -> Subject | None:
    kind, name = subject["kind"], subject["name"]
    if kind != "ServiceAccount":
        return (kind, name)
    where = subject.get("namespace") or namespace
    return (kind, where, name) if where else None


def _source(binding: Object, subject: Object, namespace: str) -> str:
    name, reference = binding["metadata"]["name"], binding["roleRef"]
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    where = f"{name}/{namespace}" if namespace else name
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who += f"/{subject.get('namespace') or namespace}"
    return (
        f'RBAC: allowed by {kind} "{where}" of {reference["kind"]} "{reference["name"]}"'
        f' to {subject["kind"]} "{who}"'
    )


def aggregate(problems: Sequence[str]) -> str:
    """Several errors in one line, as Go's library joins them."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
