# SPDX-License-Identifier: Apache-2.0
"""The rules that a schema has: what each must say, whether it compiles, what it may cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.definitions.costs import EXPRESSION_LIMIT, Costs, excess
from trellis.embedded.definitions.internal import printed_rule
from trellis.embedded.fielderrors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.schema.fieldpath import InvalidPath, walk
from trellis.embedded.schema.node import structural
from trellis.embedded.schema.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    Schema = dict[str, Any]

_KEYWORD = "x-kubernetes-validations"
_REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_BREAK = re.compile(r"[\n\r]")


def check_rules(schema: Schema, path: str) -> list[FieldError]:
    """Without compiling anything."""
    where = child(path, _KEYWORD)
    rules = enumerate(schema[_KEYWORD])
    return [error for at, rule in rules for error in _said(schema, rule, index(where, at))]


def _said(schema: Schema, rule: Schema, path: str) -> Iterator[FieldError]:
    yield from _text(rule, path)
    computed = rule.get("messageExpression") or ""
    if computed and not computed.strip():
        why = "messageExpression must be non-empty if specified"
        yield required(child(path, "messageExpression"), why)
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        yield not_supported(child(path, "reason"), reason, _REASONS)
    field, where = rule.get("fieldPath") or "", child(path, "fieldPath")
    if field and not field.strip():
        yield invalid(where, field, "must be non-empty if specified")
    if _BREAK.search(field):
        yield invalid(where, field, "must not contain line breaks")
    if field and not _leads_somewhere(schema, field):
        yield invalid(where, field, "must be a valid path")


def _text(rule: Schema, path: str) -> Iterator[FieldError]:
    message, expression = rule.get("message") or "", (rule.get("rule") or "").strip()
    where = child(path, "message")
    if not expression:
        yield required(child(path, "rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(where, message, "must be non-empty if specified")
    elif _BREAK.search(message.strip()):
        yield invalid(where, message, "must not contain line breaks")
    elif _BREAK.search(expression) and not message:
        yield required(where, "message must be specified if rule contains line breaks")


def _leads_somewhere(schema: Schema, path: str) -> bool:
    try:
        walk(structural(schema), path)
    except InvalidPath:
        return False
    return True


def compile_rules(
    schema: Schema, path: str, costs: Costs, uncorrelatable: str, *, root: bool
) -> list[FieldError]:
    """Adds what the rules cost to the costs."""
    node = structural(schema)
    found: list[FieldError] = []
    for at, raw in enumerate(schema[_KEYWORD]):
        where = index(child(path, _KEYWORD), at)
        rule = Rule(node, raw, root=root)
        found += _cost(rule, where, costs)
        found += _problems(rule, where)
        if rule.uses_old and uncorrelatable:
            why = (
                "oldSelf cannot be used on the uncorrelatable portion of the schema within "
                f"{uncorrelatable}"
            )
            found.append(invalid(child(where, "rule"), raw["rule"], why))
        elif not rule.uses_old and raw.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            found.append(invalid(child(where, "optionalOldSelf"), raw["optionalOldSelf"], why))
    return found


def _problems(rule: Rule, path: str) -> Iterator[FieldError]:
    shown = printed_rule(rule.raw)
    if rule.problem:
        yield invalid(child(path, "rule"), shown, rule.problem)
    if rule.message_problem:
        yield invalid(child(path, "messageExpression"), shown, rule.message_problem)


def _cost(rule: Rule, path: str, costs: Costs) -> Iterator[FieldError]:
    if rule.program is None or rule.environment is None:
        return
    cost = costs.of(rule.program.estimated_cost, cel.cardinality(rule.environment))
    where = child(path, "rule")
    if costs.bounded and cost > EXPRESSION_LIMIT:
        yield forbidden(where, excess("estimated rule cost", cost, EXPRESSION_LIMIT))
    costs.observe(where, cost)
    if rule.computed is None:
        return
    cost, where = rule.computed.estimated_cost, child(path, "messageExpression")
    if costs.bounded and cost > EXPRESSION_LIMIT:
        yield forbidden(where, excess("estimated messageExpression cost", cost, EXPRESSION_LIMIT))
    costs.observe(where, cost)
