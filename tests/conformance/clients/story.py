# SPDX-License-Identifier: Apache-2.0
"""Stories that a client's user tells: commands in their order, in a namespace of their own.

    Story("a config map is made and read", "create configmap a", "get configmap a")

In a command and in what it reads, `{ns}` is the story's namespace and `{id}` a word of its own for
what is not namespaced.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kubectl:
    """One command line. `edit` is a sed script in place of a person with an editor."""

    line: str
    stdin: str = ""
    edit: str = ""


@dataclass(frozen=True, slots=True)
class Watching:
    """A command that goes on: it is left after so many lines, read while others do something."""

    line: str
    before: int
    """How many lines are read first."""
    after: int
    meanwhile: tuple[Kubectl, ...]


@dataclass(frozen=True, slots=True)
class PodsRun:
    """What kubelets would do: so many pods of the namespace are awaited, and are ready then."""

    count: int


@dataclass(frozen=True, slots=True)
class Until:
    """Repeats a command, unrecorded, until it prints this: what controllers do takes a while."""

    line: str
    shows: str


Step = Kubectl | Watching | PodsRun | Until


@dataclass(frozen=True, slots=True, init=False)
class Story:
    title: str
    steps: tuple[Step, ...]
    cleanup: tuple[Kubectl, ...]

    def __init__(self, title: str, *steps: Step | str, cleanup: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "title", title)
        made = tuple(Kubectl(step) if isinstance(step, str) else step for step in steps)
        object.__setattr__(self, "steps", made)
        object.__setattr__(self, "cleanup", tuple(Kubectl(line) for line in cleanup))

    @property
    def commands(self) -> int:
        """How many commands of a client it tells of."""
        return sum(
            1 + len(step.meanwhile) if isinstance(step, Watching) else isinstance(step, Kubectl)
            for step in self.steps
        )
