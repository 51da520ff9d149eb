# SPDX-License-Identifier: Apache-2.0
"""What happens to a pod: init containers in order, sidecars, main containers, and its end. Pure.

`advance` takes a pod as far as it comes by a time, through as many steps as that takes; so a pod
whose containers ask for no delay is running and ready after the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.api.core.pod import FAILED, PENDING, RUNNING, SUCCEEDED
from trellis.embedded.nodes.course import FRESH, Course, begun, over, to_be_restarted
from trellis.embedded.nodes.faults import Blow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.nodes.behaviour import Behaviour

KILLED = 137
TERMINATED = 143
_NEVER = "Never"
_ALWAYS = "Always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A container by what it does. `told`: a program of its own says when it ends."""

    name: str
    behaviour: Behaviour
    sidecar: bool = False
    told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is to happen in a pod."""

    policy: str
    inits: tuple[Part, ...]
    mains: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What has happened in it. `accepted`: the kubelet took it; `pulled`: its images are there."""

    accepted: float
    pulled: float
    inits: tuple[Course, ...]
    mains: tuple[Course, ...]
    stopping: float | None = None
    grace: float = 0.0


def born(script: Script, now: float, pull_seconds: float) -> Life:
    return Life(
        accepted=now,
        pulled=now + pull_seconds,
        inits=(FRESH,) * len(script.inits),
        mains=(FRESH,) * len(script.mains),
    )


def advance(script: Script, life: Life, now: float) -> Life:
    """As far as it comes by now."""
    while True:
        moved = _step(script, life, now)
        if moved == life:
            return life
        life = moved


def next_due(script: Script, life: Life, now: float) -> float | None:
    """When something happens next by itself, after now."""
    moments = [life.pulled, *_moments(script, life)]
    return min((at for at in moments if at > now), default=None)


def stopped(life: Life, now: float, grace: float) -> Life:
    """It is told to end within the grace. A later order may only hasten it."""
    since = now if life.stopping is None else life.stopping
    shorter = grace if life.stopping is None else min(life.grace, grace + (now - since))
    return replace(life, stopping=since, grace=shorter)


def struck(script: Script, life: Life, name: str, blow: Blow, now: float) -> Life:
    """A container that runs ends so, whatever it was to do. Without a name, the first one."""
    wanted = name or script.mains[0].name

    def end(part: Part, course: Course, policy: str) -> Course:
        if part.name != wanted or not course.runs:
            return course
        restarts = _restarts(policy, blow.exit_code)
        return _ended(course, blow, now, restarts=restarts)

    inits = zip(script.inits, life.inits, strict=True)
    mains = zip(script.mains, life.mains, strict=True)
    return replace(
        life,
        inits=tuple(end(part, one, _init_policy(part, script.policy)) for part, one in inits),
        mains=tuple(end(part, one, script.policy) for part, one in mains),
    )


def running_since(script: Script, life: Life, name: str) -> float | None:
    """Since when that container runs, if it does. Without a name, the first one."""
    wanted = name or script.mains[0].name
    parts, courses = (*script.inits, *script.mains), (*life.inits, *life.mains)
    found = (one.started for part, one in zip(parts, courses, strict=True) if part.name == wanted)
    return next(found, None)


def is_over(script: Script, life: Life) -> bool:
    """Nothing runs any more, and nothing will."""
    if any(course.runs for course in (*life.inits, *life.mains)):
        return False
    return life.stopping is not None or phase(script, life) in (SUCCEEDED, FAILED)


def initialized(script: Script, life: Life) -> bool:
    """Whether the main containers may start."""
    return all(_done(part, course) for part, course in zip(script.inits, life.inits, strict=True))


def phase(script: Script, life: Life) -> str:
    if _init_failed(script, life):
        return FAILED
    if life.stopping is not None and not any(one.runs for one in (*life.inits, *life.mains)):
        return SUCCEEDED if all(course.succeeded for course in life.mains) else FAILED
    if not initialized(script, life) or any(course.fresh for course in life.mains):
        begun_once = any(not course.fresh for course in life.mains)
        return RUNNING if begun_once and life.stopping is not None else PENDING
    if all(course.ended is not None for course in life.mains):
        return SUCCEEDED if all(course.succeeded for course in life.mains) else FAILED
    return RUNNING


def ready(part: Part, course: Course, now: float) -> bool:
    return course.started is not None and now >= course.started + part.behaviour.ready


def _step(script: Script, life: Life, now: float) -> Life:
    if life.stopping is not None:
        return _stop(script, life, now)
    if now < life.pulled:
        return life
    if phase(script, life) in (SUCCEEDED, FAILED):
        return replace(life, inits=_without_sidecars(life))
    inits, free_at = _inits(script, life, now)
    mains = tuple(
        _moved(part, course, script.policy, now, free_at)
        for part, course in zip(script.mains, life.mains, strict=True)
    )
    return replace(life, inits=inits, mains=mains)


def _without_sidecars(life: Life) -> tuple[Course, ...]:
    """Sidecars outlive what they serve by nothing."""
    ends = [one.ended.finished for one in (*life.inits, *life.mains) if one.ended is not None]
    return tuple(over(one, 0, max(ends)) if one.runs else one for one in life.inits)


def _inits(script: Script, life: Life, now: float) -> tuple[tuple[Course, ...], float | None]:
    """Each may begin when all before it are done; also since when the main containers may."""
    free_at: float | None = life.pulled
    moved = []
    for part, course in zip(script.inits, life.inits, strict=True):
        policy = _init_policy(part, script.policy)
        moved.append(_moved(part, course, policy, now, free_at))
        free_at = _done_at(part, course, free_at)
    return tuple(moved), free_at


def _moved(part: Part, course: Course, policy: str, now: float, free_at: float | None) -> Course:
    """One step of a container, if one is due. `free_at`: from when on it may first be started."""
    if course.waits:
        start = free_at if course.again_at is None else course.again_at
        return course if start is None or start > now else begun(course, start)
    due = _end_due(part, course)
    if due is None or due[0] > now:
        return course
    at, exit_code = due
    return _ended(course, Blow(exit_code), at, restarts=_restarts(policy, exit_code))


def _ended(course: Course, blow: Blow, at: float, *, restarts: bool) -> Course:
    after = to_be_restarted if restarts else over
    return after(course, blow.exit_code, at, blow.reason)


def _stop(script: Script, life: Life, now: float) -> Life:
    def end(part: Part, course: Course) -> Course:
        at, exit_code = _stop_due(life, part)
        return over(course, exit_code, at) if course.runs and at <= now else course

    return replace(
        life,
        inits=tuple(map(end, script.inits, life.inits)),
        mains=tuple(map(end, script.mains, life.mains)),
    )


def _stop_due(life: Life, part: Part) -> tuple[float, int]:
    """When a container that was told to end does, and how: killed if it takes too long."""
    since = life.accepted if life.stopping is None else life.stopping
    late = part.behaviour.stop > life.grace
    return since + min(part.behaviour.stop, life.grace), KILLED if late else TERMINATED


def _moments(script: Script, life: Life) -> Iterator[float]:
    parts, courses = (*script.inits, *script.mains), (*life.inits, *life.mains)
    for part, course in zip(parts, courses, strict=True):
        if life.stopping is not None:
            if course.runs:
                yield _stop_due(life, part)[0]
            continue
        if course.again_at is not None:
            yield course.again_at
        if course.started is not None:
            yield course.started + part.behaviour.ready
            due = _end_due(part, course)
            if due is not None:
                yield due[0]


def _end_due(part: Part, course: Course) -> tuple[float, int] | None:
    end = None if part.told else part.behaviour.end(course.restarts)
    if end is None or course.started is None:
        return None
    return course.started + end[0], end[1]


def _restarts(policy: str, exit_code: int) -> bool:
    return policy == _ALWAYS or (policy != _NEVER and exit_code != 0)


def _init_policy(part: Part, policy: str) -> str:
    if part.sidecar:
        return _ALWAYS
    return _NEVER if policy == _NEVER else "OnFailure"


def _done(part: Part, course: Course) -> bool:
    # A sidecar that is down for a moment does not send the pod back to where it began.
    return not course.fresh if part.sidecar else course.succeeded


def _done_at(part: Part, course: Course, free_at: float | None) -> float | None:
    """Since when the next one may begin; None: not yet."""
    if free_at is None or not _done(part, course):
        return None
    return free_at if course.ended is None else max(free_at, course.ended.finished)


def _init_failed(script: Script, life: Life) -> bool:
    return any(
        course.ended is not None and course.ended.exit_code and not part.sidecar
        for part, course in zip(script.inits, life.inits, strict=True)
    )
