# SPDX-License-Identifier: Apache-2.0
"""Rules of roles: what one allows, and whether some cover others. Pure, and knows no user.

A rule is a plain dict as roles hold it: verbs, apiGroups, resources, resourceNames,
nonResourceURLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Rule = dict[str, Any]
ALL = "*"
_FIELDS = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


def values(rule: Rule, field: str) -> Sequence[str]:
    """A list of a rule; absent and null are empty."""
    return rule.get(field) or ()


def allows_verb(rule: Rule, verb: str) -> bool:
    return _has(values(rule, "verbs"), verb)


def allows_resource(rule: Rule, group: str, resource: str, subresource: str) -> bool:
    """Whatever its name: who asks looks at the resourceNames too."""
    if not _has(values(rule, "apiGroups"), group):
        return False
    resources = values(rule, "resources")
    if not subresource:
        return _has(resources, resource)
    return _has(resources, f"{resource}/{subresource}") or f"*/{subresource}" in resources


def allows_path(rule: Rule, path: str) -> bool:
    return any(_covers_path(allowed, path) for allowed in values(rule, "nonResourceURLs"))


def _has(allowed: Sequence[str], wanted: str) -> bool:
    return wanted in allowed or ALL in allowed


def _covers_path(allowed: str, path: str) -> bool:
    if allowed == path:
        return True
    return allowed.endswith(ALL) and path.startswith(allowed.rstrip(ALL))


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of what is wanted that no owned rule allows, each of one verb and one thing."""
    return [part for rule in wanted for part in _parts(rule) if not _covered(owned, part)]


def _parts(rule: Rule) -> Iterator[Rule]:
    verbs = values(rule, "verbs")
    names: Sequence[Any] = [[name] for name in values(rule, "resourceNames")] or [None]
    for group in values(rule, "apiGroups"):
        for resource in values(rule, "resources"):
            for verb in verbs:
                for name in names:
                    part = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    yield {**part, "resourceNames": name} if name else part
    for path in values(rule, "nonResourceURLs"):
        for verb in verbs:
            yield {"nonResourceURLs": [path], "verbs": [verb]}


def _covered(owned: Sequence[Rule], part: Rule) -> bool:
    return any(_covers(rule, part) for rule in owned)


def _covers(rule: Rule, part: Rule) -> bool:
    if not allows_verb(rule, part["verbs"][0]):
        return False
    if "nonResourceURLs" in part:
        # Such a part has neither groups nor names: a rule with names says nothing of paths.
        return not values(rule, "resourceNames") and allows_path(rule, part["nonResourceURLs"][0])
    resource, _, subresource = part["resources"][0].partition("/")
    if not allows_resource(rule, part["apiGroups"][0], resource, subresource):
        return False
    names = values(rule, "resourceNames")
    return not names or ("resourceNames" in part and part["resourceNames"][0] in names)


def described(missing: Iterable[Rule]) -> list[str]:
    """Parts as a refusal lists them: the verbs of one resource together, those of paths not."""
    told: list[Rule] = []
    together: dict[tuple[str, ...], Rule] = {}
    for part in missing:
        if "nonResourceURLs" in part:
            told.append(part)
            continue
        key = (*part["apiGroups"], *part["resources"], *part.get("resourceNames", ()))
        if key in together:
            together[key]["verbs"].extend(part["verbs"])
        else:
            together[key] = {**part, "verbs": list(part["verbs"])}
    return sorted({_described(rule) for rule in (*told, *together.values())})


def _described(rule: Rule) -> str:
    told = [
        f"{word}:[{' '.join(map(shown, values(rule, field)))}]"
        for field, word in _FIELDS.items()
        if values(rule, field)
    ]
    return "{" + ", ".join(told) + "}"
