# SPDX-License-Identifier: Apache-2.0
"""The status of a policy: which of its expressions do not fit the kinds that it is for. Pure.

It only warns. The policy works as if it were not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.admission.variables import declared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trellis.embedded.admission.surroundings import Catalogue
    from trellis.embedded.asking import Object
    from trellis.embedded.schema.node import Node
    from trellis.embedded.served import Served

_MOST_KINDS = 10
_TEXTS = frozenset({"quantity", "time", "micro-time"})


def policy_status(policy: Object, catalogue: Catalogue) -> Object:
    """What the controller of the real cluster writes into `status`."""
    spec = policy["spec"]
    kinds = _kinds(spec, catalogue)
    warnings = [
        {"fieldRef": where, "warning": "\n".join(problems)}
        for where, expression in _expressions(spec)
        if (problems := list(_problems(expression, spec, kinds)))
    ]
    checked = {"expressionWarnings": warnings} if warnings else {}
    generation = policy["metadata"].get("generation", 0)
    return {"observedGeneration": generation, "typeChecking": checked}


def _expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, validation in enumerate(spec.get("validations") or ()):
        where = f"spec.validations[{number}]"
        yield f"{where}.expression", validation["expression"]
        if validation.get("messageExpression"):
            yield f"{where}.messageExpression", validation["messageExpression"]


def _problems(expression: str, spec: Mapping[str, Any], kinds: Sequence[Served]) -> Iterator[str]:
    for served in kinds:
        try:
            cel.compile(expression, _environment(spec, served))
        except cel.CompileProblem as problem:
            name = f"{served.group}/{served.version}, Kind={served.kind}"
            yield f"{name}: {problem.issues}\n"


def _environment(spec: Mapping[str, Any], served: Served) -> cel.Environment:
    variables = spec.get("variables") or ()
    params = spec.get("paramKind") is not None
    return declared(variables, params=params, schema=_plain(served.schema, ()))


def _plain(node: Node, within: tuple[Node, ...]) -> dict[str, Any]:
    """A schema in one piece. What contains itself is not looked into a second time."""
    if node.int_or_string or node.special == "int-or-string":
        return {"x-kubernetes-int-or-string": True}
    if node.special or node in within:
        return {"type": "string"} if node.special in _TEXTS else {}
    found: dict[str, Any] = {"type": node.type}
    if node.format:
        found["format"] = node.format
    below = (*within, node)
    if node.properties:
        found["properties"] = {name: _plain(each, below) for name, each in node.properties.items()}
    if node.items is not None:
        found["items"] = _plain(node.items, below)
    if node.additional is not None:
        found["additionalProperties"] = _plain(node.additional, below)
    return found


def _kinds(spec: Mapping[str, Any], catalogue: Catalogue) -> list[Served]:
    """Those that rules name without a wildcard, sorted; of very many only the first."""
    found: dict[tuple[str, str, str], Served] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        if any("*" in each for each in (*groups, *versions)):
            continue
        for group, version, plural in _resources(rule):
            served = catalogue.find(group, version, plural)
            if served is not None and len(found) < _MOST_KINDS:
                found[served.group, served.version, served.kind] = served
    return [found[key] for key in sorted(found)]


def _resources(rule: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for group in sorted(rule.get("apiGroups") or ()):
        for version in sorted(rule.get("apiVersions") or ()):
            for plural in sorted(rule.get("resources") or ()):
                if "*" not in plural and "/" not in plural:
                    yield group, version, plural
