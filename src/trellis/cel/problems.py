# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with an expression, in the words of the API server."""

from __future__ import annotations

from dataclasses import dataclass

_SNIPPET_LIMIT = 16384
_ISSUE_LIMIT = 100


class CompileProblem(Exception):
    """The expression does not parse, or does not fit the declared types."""

    def __init__(self, issues: str, failed: str = "compilation failed") -> None:
        super().__init__(f"{failed}: {issues}")
        self.issues = issues
        """What is wrong, without the words in front."""


class EvaluationProblem(Exception):
    """The expression has no value for these bindings."""


class BudgetSpent(EvaluationProblem):
    """No condition may take this for an ordinary error and go on: it ends the evaluation."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


@dataclass(frozen=True, slots=True)
class Issue:
    """One fault, with the offset in the expression of what it is about."""

    at: int
    message: str


def told(expression: str, issues: list[Issue]) -> str:
    """Every fault, in the order of their places, with the line and a caret below it."""
    ordered = sorted(issues, key=lambda issue: issue.at)
    return "\n".join(_told(expression, issue) for issue in ordered[:_ISSUE_LIMIT])


def _told(expression: str, issue: Issue) -> str:
    before = expression[: issue.at]
    line = before.count("\n")
    column = issue.at - (before.rfind("\n") + 1)
    source = expression.split("\n")[line].replace("\t", " ")
    place = f"ERROR: <input>:{line + 1}:{column + 1}: {issue.message}"
    if len(source) > _SNIPPET_LIMIT:
        return place
    # Wide characters get wide marks, so that the caret stands below what it means.
    dots = "".join("." if char.isascii() else "\N{FULLWIDTH FULL STOP}" for char in source[:column])
    wide = not source[column : column + 1].isascii()
    caret = "\N{FULLWIDTH CIRCUMFLEX ACCENT}" if wide else "^"
    return f"{place}\n | {source}\n | {dots}{caret}"
