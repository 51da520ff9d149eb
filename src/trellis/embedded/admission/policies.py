# SPDX-License-Identifier: Apache-2.0
"""ValidatingAdmissionPolicies and what they decide of a request. Pure: it reads, never calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.admission.bindings import Asked, bindings, namespace_object
from trellis.embedded.admission.conditions import Conditions, Failed, Undecided, evaluated
from trellis.embedded.admission.lifecycle import refused_name
from trellis.embedded.admission.matching import equivalents
from trellis.embedded.admission.parameters import Unconfigured, parameters
from trellis.embedded.admission.rules import Question, exempt, matches, named, target
from trellis.embedded.admission.selection import Selectors
from trellis.embedded.admission.variables import Variables, declared
from trellis.embedded.refusals import Refusal, forbidden

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trellis.embedded.admission.selection import NamespaceOf
    from trellis.embedded.admission.surroundings import Surroundings
    from trellis.embedded.asking import Object, Review
    from trellis.embedded.served import Served

_BUDGET = 10_000_000
_LONGEST_MESSAGE = 5 << 10
_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}


@dataclass(frozen=True, slots=True)
class Constraints:
    """The `matchConstraints` of a policy or the `matchResources` of a binding."""

    included: Sequence[Mapping[str, Any]]
    excluded: Sequence[Mapping[str, Any]]
    equivalent: bool
    selectors: Selectors

    @classmethod
    def of(cls, entry: Mapping[str, Any] | None) -> Constraints:
        entry = entry or {}
        return cls(
            tuple(entry.get("resourceRules") or ()),
            tuple(entry.get("excludeResourceRules") or ()),
            entry.get("matchPolicy", "Equivalent") == "Equivalent",
            Selectors.of(entry),
        )

    def target(self, review: Review, others: Sequence[Served]) -> Served | None:
        """The version in which the request is meant; None if it is not. No rule means any."""
        if self._among(self.excluded, review, others):
            return None
        return self._among(self.included, review, others) if self.included else review.served

    def _among(
        self, rules: Sequence[Mapping[str, Any]], review: Review, others: Sequence[Served]
    ) -> Served | None:
        fitting = [rule for rule in rules if named(rule, review.name)]
        if not fitting:
            return None
        asked = Question.of(review)
        return target(fitting, asked, review.served, others if self.equivalent else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    name: str
    actions: Sequence[str]
    parameters: Mapping[str, Any] | None
    constraints: Constraints


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    name: str
    constraints: Constraints
    environment: cel.Environment
    conditions: Conditions
    variables: Sequence[Mapping[str, str]]
    validations: Sequence[Mapping[str, str]]
    parameter_kind: Mapping[str, str] | None
    may_fail: bool
    bindings: Sequence[Binding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A validation that did not hold, or could not be made."""

    message: str
    reason: str = "Invalid"


def policies(found: Sequence[Object], bound: Sequence[Object]) -> list[Policy]:
    """Those that are bound, by name; the others do nothing."""
    compiled: list[Policy] = []
    for item in sorted(found, key=lambda each: str(each["metadata"]["name"])):
        name = item["metadata"]["name"]
        own = [each for each in bound if each["spec"].get("policyName") == name]
        if own:
            compiled.append(_policy(item, own))
    return compiled


def _policy(item: Object, bound: Sequence[Object]) -> Policy:
    spec = item["spec"]
    parameter_kind = spec.get("paramKind")
    variables = tuple(spec.get("variables") or ())
    may_fail = spec.get("failurePolicy") == "Ignore"
    environment = declared(variables, params=parameter_kind is not None)
    return Policy(
        name=item["metadata"]["name"],
        constraints=Constraints.of(spec.get("matchConstraints")),
        environment=environment,
        conditions=Conditions.of(spec.get("matchConditions") or (), environment, may_fail=may_fail),
        variables=variables,
        validations=tuple(spec.get("validations") or ()),
        parameter_kind=parameter_kind,
        may_fail=may_fail,
        bindings=[
            _binding(each) for each in sorted(bound, key=lambda b: str(b["metadata"]["name"]))
        ],
    )


def _binding(item: Object) -> Binding:
    spec = item["spec"]
    return Binding(
        name=item["metadata"]["name"],
        actions=tuple(spec.get("validationActions") or ()),
        parameters=spec.get("paramRef"),
        constraints=Constraints.of(spec.get("matchResources")),
    )


class Policies:
    """All policies there are, asked about one request at a time."""

    def __init__(
        self, found: Sequence[Policy], about: Surroundings, namespace_of: NamespaceOf
    ) -> None:
        self._policies = found
        self._about = about
        self._namespace_of = namespace_of
        self._epoch = about.catalogue.epoch
        self._known: dict[Question, list[Policy]] = {}

    def check(self, review: Review) -> None:
        """Raises the first refusal by policy and binding; warnings go to the review."""
        denied: list[tuple[Policy, Binding, Decision]] = []
        for policy in self._candidates(review):
            for binding, decision in self._decisions(policy, review):
                if "Warn" in binding.actions:
                    review.warnings.append(_warning(policy, binding, decision))
                if "Deny" in binding.actions:
                    denied.append((policy, binding, decision))
        if denied:
            raise _refusal(review, *denied[0])

    def _candidates(self, review: Review) -> list[Policy]:
        """Policies that may be about such a request, whatever its name and labels."""
        if not self._policies:
            return []
        if self._epoch != self._about.catalogue.epoch:
            self._epoch = self._about.catalogue.epoch
            self._known.clear()
        asked = Question.of(review)
        found = self._known.get(asked)
        if found is None:
            found = [] if exempt(review.served) else list(self._possible(asked, review.served))
            self._known[asked] = found
        return found

    def _possible(self, asked: Question, served: Served) -> Iterator[Policy]:
        versions = [served.version, *(each.version for each in self._others(served))]
        for policy in self._policies:
            rules = policy.constraints.included
            if any(matches(rule, asked, version) for rule in rules for version in versions):
                yield policy

    def _others(self, served: Served) -> list[Served]:
        return equivalents(served, self._about.catalogue)

    def _decisions(self, policy: Policy, review: Review) -> Iterator[tuple[Binding, Decision]]:
        wanted = self._matched(policy.constraints, review)
        if wanted is None:
            return
        for binding in policy.bindings:
            if self._matched(binding.constraints, review) is None:
                continue
            try:
                found = parameters(policy, binding, review, self._about)
            except Unconfigured as problem:
                if not policy.may_fail:
                    # Such a refusal does not ask what the binding wants done.
                    denying = replace(binding, actions=("Deny",))
                    yield denying, Decision(message=f"failed to configure binding: {problem}")
                continue
            for params in found:
                for decision in self._validate(policy, review, wanted, params):
                    yield binding, decision

    def _matched(self, constraints: Constraints, review: Review) -> Served | None:
        found = constraints.target(review, self._others(review.served))
        if found is None or not constraints.selectors.select(review, self._namespace_of):
            return None
        return found

    def _validate(
        self, policy: Policy, review: Review, wanted: Served, params: Object | None
    ) -> list[Decision]:
        known = bindings(Asked(review=review, target=wanted, authorize=self._about.authorize))
        known["params"] = params
        # What can be in a namespace is told of it; a namespace is in itself, and is not.
        within = review.namespace if review.served.namespaced else ""
        known["namespaceObject"] = namespace_object(self._namespace_of(within) if within else None)
        meter = cel.Meter(_BUDGET)
        known["variables"] = Variables(policy.variables, policy.environment, known, meter)
        try:
            if not policy.conditions.hold(known):
                return []
        except Undecided as undecided:
            return [] if policy.may_fail else [Decision(message=str(undecided))]
        found = (_validated(policy, each, known, meter) for each in policy.validations)
        return [decision for decision in found if decision is not None]


def _validated(
    policy: Policy, validation: Mapping[str, str], known: Mapping[str, Any], meter: cel.Meter
) -> Decision | None:
    try:
        if evaluated(validation["expression"], policy.environment, known, meter) is True:
            return None
    except Failed as failure:
        return None if policy.may_fail else Decision(message=str(failure))
    message = _message(policy, validation, known, meter)
    return Decision(message=message, reason=validation.get("reason") or "Invalid")


def _message(
    policy: Policy, validation: Mapping[str, str], known: Mapping[str, Any], meter: cel.Meter
) -> str:
    told = ""
    if validation.get("messageExpression"):
        try:
            value = evaluated(validation["messageExpression"], policy.environment, known, meter)
        except Failed:
            value = None  # the plain message, or the expression, is told in its place
        if isinstance(value, str):
            told = value.strip()
        if len(told.encode()) > _LONGEST_MESSAGE or "\n" in told:
            told = ""
    told = told or (validation.get("message") or "").strip()
    return told or f"failed expression: {validation['expression'].strip()}"


def _warning(policy: Policy, binding: Binding, decision: Decision) -> str:
    return (
        f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with binding"
        f" '{binding.name}': {decision.message}"
    )


def _refusal(review: Review, policy: Policy, binding: Binding, decision: Decision) -> Refusal:
    said = (
        f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}' denied request:"
        f" {decision.message}"
    )
    served = review.served
    refusal = forbidden(served.group, served.plural, refused_name(review), said)
    refusal.reason = decision.reason
    refusal.code = _CODES.get(decision.reason, 422)
    refusal.details = {**(refusal.details or {}), "causes": [{"message": said}]}
    return refusal
