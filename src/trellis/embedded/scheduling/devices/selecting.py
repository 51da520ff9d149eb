# SPDX-License-Identifier: Apache-2.0
"""Which devices a request may have: by selectors of its class and its own, and by taints. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.scheduling.matching import untolerated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.scheduling.devices.inventory import Candidate
    from trellis.embedded.scheduling.dra import Ask, DeviceClass, Selector


class ClaimBroken(Exception):
    """It cannot be worked with: whoever wrote the claim, its class or a pool has to mend it."""


def suits(candidate: Candidate, ask: Ask, class_: DeviceClass, claim: str) -> bool:
    """Whether the class and the request mean the device; in use or not is another question."""
    of_class = f"class {class_.metadata.name}"
    return _all_match(candidate, class_.spec.selectors, of_class) and _all_match(
        candidate, ask.selectors, f"claim {claim}"
    )


def tolerated(candidate: Candidate, ask: Ask) -> bool:
    return not untolerated(candidate.device.taints, ask.tolerations)


def _all_match(candidate: Candidate, selectors: Iterable[Selector], whose: str) -> bool:
    for number, selector in enumerate(selectors):
        expression = selector.cel.expression
        verdict = candidate.verdicts.get(expression)
        if verdict is None:
            verdict = _evaluate(candidate, expression, f"{whose}: selector #{number}")
            candidate.verdicts[expression] = verdict
        if not verdict:
            return False
    return True


def _evaluate(candidate: Candidate, expression: str, where: str) -> bool:
    # Loaded when the first selector is met: many clusters have none.
    from trellis import cel  # noqa: PLC0415

    try:
        program = cel.compile(expression, cel.devices())
        return program.evaluate({"device": candidate.value}) is True
    except cel.CompileProblem as problem:
        raise ClaimBroken(f"{where}: CEL compile error: {problem}") from None
    except cel.EvaluationProblem as problem:
        raise ClaimBroken(f"{where}: CEL runtime error: {problem}") from None
