# SPDX-License-Identifier: Apache-2.0
"""The CEL rules of a custom kind: compiled once, run on every write, tolerant of the unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from trellis import cel
from trellis.embedded import fielderrors
from trellis.embedded.fielderrors import UNSHOWN, FieldError, child, index, invalid, key
from trellis.embedded.schema.correlate import NOTHING, entry, item_finder, same
from trellis.embedded.schema.fieldpath import InvalidPath, walk
from trellis.embedded.schema.result import NOWHERE
from trellis.embedded.schema.walking import inner_nodes

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

PER_CALL: Final = 1_000_000
BUDGET: Final = 10_000_000
"""What one rule and all rules of one write may cost, in the units of the server."""
_MESSAGE_LIMIT = 5 * 1024
_PLAN = "rules"
_ENVIRONMENTS = "environments of rules"
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
_REASONS: Final = {
    "FieldValueForbidden": fielderrors.FORBIDDEN,
    "FieldValueRequired": fielderrors.REQUIRED,
    "FieldValueDuplicate": fielderrors.DUPLICATE,
}


@dataclass(slots=True)
class Findings:
    """`tolerated` are errors of what was so before and has not changed: warnings say them."""

    errors: list[FieldError]
    tolerated: list[FieldError]


def run_rules(
    node: Node, new: Any, old: Any = NOTHING, path: str = "", *, tolerant: bool = True
) -> Findings:
    """All rules below a node. `old` is NOTHING for a new object."""
    run = _Run()
    run.value(node, _Spot(new, old, path, old if tolerant else NOTHING, root=not path))
    return Findings(run.errors, run.tolerated)


def has_rules(node: Node) -> bool:
    """Whether there is anything to run; worked out once."""
    if _PLAN not in node.plans:
        inside = any(map(has_rules, inner_nodes(node)))
        node.plans[_PLAN] = _Compiled(node) if node.rules else inside
    return bool(node.plans[_PLAN])


@dataclass(frozen=True, slots=True)
class _Spot:
    """A value on the way down: what rules see as `oldSelf`, and what tells that it is unchanged."""

    value: Any
    old: Any
    path: str
    tolerant: Any = NOTHING
    """What it was, if it can be followed: then it is tolerated unchanged."""
    root: bool = False


class _Compiled:
    """The rules at one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._rules: list[Rule] | None = None

    def rules(self, *, root: bool) -> list[Rule]:
        if self._rules is None:
            whole = root or self._node.embedded_resource
            self._rules = [Rule(self._node, raw, root=whole) for raw in self._node.rules]
        return self._rules


class Rule:
    """One rule, compiled. What could not be compiled says why in `problem` or `message_problem`."""

    __slots__ = (
        "computed",
        "environment",
        "field",
        "message",
        "message_problem",
        "optional",
        "problem",
        "program",
        "raw",
        "uses_old",
    )

    def __init__(self, node: Node, raw: dict[str, Any], *, root: bool) -> None:
        self.raw = raw
        self.optional = bool(raw.get("optionalOldSelf"))
        self.program: Any = None
        self.computed: Any = None
        self.problem = self.message_problem = ""
        self.uses_old = False
        self.message = (raw.get("message") or "").strip()
        self.field = _field(node, raw.get("fieldPath") or "")
        self.environment = _environment(node, root=root, optional_old=self.optional)
        if self.environment is not None and raw["rule"].strip():
            self._compile(self.environment)

    def _compile(self, environment: cel.Environment) -> None:
        try:
            program = cel.compiled(self.raw["rule"], environment)
        except cel.CompileProblem as problem:
            self.problem = str(problem)
            return
        if program.result_type != "bool":
            self.problem = "cel expression must evaluate to a bool"
            return
        self.program = program
        self.uses_old = "oldSelf" in program.names
        if self.raw.get("messageExpression"):
            self._compile_message(self.raw["messageExpression"], environment)

    def _compile_message(self, expression: str, environment: cel.Environment) -> None:
        try:
            computed = cel.compiled(expression, environment)
        except cel.CompileProblem as problem:
            self.message_problem = f"messageExpression {problem}"
            return
        if computed.result_type != "string":
            self.message_problem = "messageExpression must evaluate to a string"
            return
        self.computed = computed

    @property
    def named(self) -> str:
        return self.message or self.raw["rule"].strip()


def _environment(node: Node, *, root: bool, optional_old: bool) -> cel.Environment | None:
    """One for all rules of a node: with all that is below it, it may be large."""
    made = node.plans.setdefault(_ENVIRONMENTS, {})
    kind = root, optional_old
    if kind not in made:
        made[kind] = cel.rules(node.source, root=root, optional_old=optional_old)
    found: cel.Environment | None = made[kind]
    return found


def _field(node: Node, path: str) -> str:
    if not path:
        return ""
    try:
        return walk(node, path)[0]
    except InvalidPath:
        return ""


class _OutOfBudget(Exception):
    """No more rules are run; what was found so far stands."""


class _Run:
    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.tolerated: list[FieldError] = []
        self._left = BUDGET

    def value(self, node: Node, spot: _Spot) -> None:
        try:
            self._value(node, spot)
        except _OutOfBudget:
            return

    def _value(self, node: Node, spot: _Spot) -> None:
        if spot.value is None or not has_rules(node):
            return
        compiled = node.plans[_PLAN]
        if isinstance(compiled, _Compiled):
            for rule in compiled.rules(root=spot.root):
                self._rule(node, rule, spot)
        if type(spot.value) is dict:
            self._entries(node, spot)
        elif type(spot.value) is list and node.items is not None and has_rules(node.items):
            self._items(node, spot)

    def _entries(self, node: Node, spot: _Spot) -> None:
        for name, each in spot.value.items():
            inner = node.properties.get(name)
            path = child(spot.path, name)
            if inner is None:
                inner, path = node.additional, key(spot.path, name)
            if inner is not None and has_rules(inner):
                was = spot.old.get(name, NOTHING) if type(spot.old) is dict else NOTHING
                self._value(inner, _Spot(each, was, path, entry(node, spot.tolerant, name)))

    def _items(self, node: Node, spot: _Spot) -> None:
        items = node.items
        if items is None:
            return
        find = item_finder(node, spot.old)
        for at, each in enumerate(spot.value):
            was = find(each) if find is not None else NOTHING
            followed = was if spot.tolerant is not NOTHING else NOTHING
            self._value(items, _Spot(each, was, index(spot.path, at), followed))

    def _rule(self, node: Node, rule: Rule, spot: _Spot) -> None:
        where = spot.path or NOWHERE
        if rule.problem:
            self.errors.append(invalid(where, node.type, f"rule compile error: {rule.problem}"))
            return
        fresh = spot.old is NOTHING or spot.old is None
        if rule.program is None or (rule.uses_old and fresh and not rule.optional):
            return
        bindings = _bindings(rule, spot, fresh=fresh)
        try:
            holds = self._evaluated(rule.program, bindings, where, node)
        except cel.EvaluationProblem as problem:
            self._failed_to_run(problem, rule, where, node)
            return
        if holds is not True:
            self._broken(node, rule, spot, bindings)

    def _evaluated(self, program: Any, bindings: dict[str, Any], where: str, node: Node) -> Any:
        meter = cel.Meter(PER_CALL)
        try:
            return program.evaluate(bindings, meter)
        finally:
            self._left -= meter.spent
            if self._left < 0:
                self.errors.append(invalid(where, node.type, _OUT_OF_BUDGET))
                raise _OutOfBudget

    def _failed_to_run(
        self, problem: cel.EvaluationProblem, rule: Rule, where: str, node: Node
    ) -> None:
        said = str(problem)
        if said.startswith("no such overload"):
            detail = (
                f"'{said}': call arguments did not match a supported operator, function or macro "
                f"signature for rule: {rule.named}"
            )
        elif said.startswith("operation cancelled: actual cost limit exceeded"):
            detail = (
                f"'{said}': no further validation rules will be run due to call cost exceeds "
                f"limit for rule: {rule.named}"
            )
            self.errors.append(invalid(where, node.type, detail))
            raise _OutOfBudget
        else:
            detail = f"{said} evaluating rule: {rule.named}"
        self.errors.append(invalid(where, node.type, detail))

    def _broken(self, node: Node, rule: Rule, spot: _Spot, bindings: dict[str, Any]) -> None:
        detail = self._computed(node, rule, spot, bindings)
        detail = detail or rule.message or f"failed rule: {rule.named}"
        path = spot.path
        if rule.field:
            path = f"{path}{rule.field}" if rule.field.startswith("[") else child(path, rule.field)
        error = _error(node, rule, spot.value, path or NOWHERE, detail)
        if not rule.uses_old and same(node, spot.value, spot.tolerant):
            self.tolerated.append(error)
        else:
            self.errors.append(error)

    def _computed(self, node: Node, rule: Rule, spot: _Spot, bindings: dict[str, Any]) -> str:
        """The message that the rule computes; empty where it cannot or what it says will not do."""
        if rule.computed is None:
            return ""
        try:
            said = self._evaluated(rule.computed, bindings, spot.path or NOWHERE, node)
        except cel.EvaluationProblem:
            return ""
        text = said.strip() if isinstance(said, str) else ""
        fits = len(text.encode()) <= _MESSAGE_LIMIT and "\n" not in text
        return text if fits else ""


def _bindings(rule: Rule, spot: _Spot, *, fresh: bool) -> dict[str, Any]:
    if not rule.uses_old:
        return {"self": spot.value}
    if rule.optional:
        return {"self": spot.value, "oldSelf": cel.NOTHING if fresh else cel.some(spot.old)}
    return {"self": spot.value, "oldSelf": spot.old}


# What a message does not repeat.
_LARGE: Final = ("object", "array")


def _error(node: Node, rule: Rule, value: Any, path: str, detail: str) -> FieldError:
    reason = _REASONS.get(rule.raw.get("reason") or "", fielderrors.INVALID)
    if reason == fielderrors.DUPLICATE:
        detail = ""
    return FieldError(reason, path, UNSHOWN if node.type in _LARGE else value, detail)
