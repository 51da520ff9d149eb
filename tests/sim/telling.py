# SPDX-License-Identifier: Apache-2.0
"""Tells a story from its beginning to its end, and reports what happened and what did not hold."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tests.sim.actors.collector import Collector, EmbeddedCollector
from tests.sim.actors.deeds import Cast
from tests.sim.actors.nodes import Nodes
from tests.sim.chronicle import Chronicle
from tests.sim.controllers import workloads
from tests.sim.ending import ended
from tests.sim.ends import End, end_of
from tests.sim.faults import Kind
from tests.sim.ground import ground
from tests.sim.hand import Hand
from tests.sim.hooks import Hooks
from tests.sim.journal import listening
from tests.sim.loops import SimLoop
from tests.sim.operators import Operator, Surroundings
from tests.sim.oracle import Oracle
from tests.sim.story import Where
from tests.sim.swift import collected
from tests.sim.watching import Fence, watchers
from tests.sim.watching.falls import Falls
from tests.sim.watching.finding import Finding
from tests.sim.watching.hearing import Hearing, lasting
from tests.sim.watching.promptness import Promptness
from tests.sim.watching.requests import repeated, unguarded
from tests.sim.wire import Trouble
from tests.support.virtual import dice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.sim.chronicle import Commit
    from tests.sim.operators import Makes
    from tests.sim.story import Act, Fault, Story
    from trellis.embedded.exchange import Answer, Ask
    from trellis.kube.transport import Request

CALM_SECONDS = 8.0
"""How long faults may go on after the last deed."""
EVENTFUL_STEPS = 200
"""Encores are told until so many were taken,"""
EVENTFUL_FAULTS = 5
"""and until so many things went wrong, if so many are to go wrong at all."""
_AT_ONCE = 3
CONVERGE_SECONDS = 180.0
SETTLE_SECONDS = 6.0
OBSTRUCTED_SECONDS = 60.0
GONE_SECONDS = 60.0
QUIET_SECONDS = 60.0
_DEAFENING = (Kind.SILENT, Kind.WITHHELD, Kind.MERGED, Kind.STALE)
_PROMPT_SECONDS = 0.05
_LOOK_SECONDS = 2.0
_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_MOST_FINDINGS = 20


@dataclass(slots=True)
class Report:
    """What became of a story."""

    story: Story
    findings: list[Finding] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    struck: list[Fault] = field(default_factory=list)
    steps: int = 0
    """Requests that the API server has answered and watches that it has opened, of everybody."""
    writes: int = 0
    """Those of the operator that changed something."""
    calls: list[str] = field(default_factory=list)
    """The calls of the first instance, in the order by which faults count them."""
    events: int = 0
    """How many lines its watches brought it."""
    seconds: float = 0.0
    """Of virtual time."""
    trace: str = ""
    end: End | None = None
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a story is told. `aloud` keeps every line of it; `makes` is who is tested."""

    aloud: bool = False
    makes: Makes = workloads
    quiet_seconds: float = QUIET_SECONDS
    restart: bool = True
    """Whether the operator is started once more in the end, to see that it finds nothing to do."""


def tell(story: Story, manner: Manner | None = None) -> Report:
    """Always the same for the same story."""
    loops: list[SimLoop] = []

    def make_loop() -> SimLoop:
        loops.append(SimLoop(story.order, dice(story.seed)))
        return loops[-1]

    async def main() -> Report:
        return await _Teller(story, manner or Manner(), loops[-1]).run()

    # It runs a loop of its own.
    ground()
    with collected(), asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(main())


def _fence(story: Story) -> Fence:
    if story.instances == 1 or story.lease:
        return Fence.WHOLE
    late = story.news_delay > _PROMPT_SECONDS or any(f.kind in _DEAFENING for f in story.faults)
    return Fence.DEAF if late else Fence.OPEN


def _is_undisturbed(story: Story) -> bool:
    """Whether one operator works all the time, and hears of everything soon."""
    alone = story.instances == 1 and not story.faults and not any(story.skews)
    return alone and story.news_delay <= _PROMPT_SECONDS and not any(map(_disturbs, story.acts))


def _disturbs(act: Act) -> bool:
    return act.what in ("bounce", "jump")


class _Teller:
    def __init__(self, story: Story, manner: Manner, loop: SimLoop) -> None:
        self._story = story
        self._manner = manner
        self._loop = loop
        self._report = Report(story)
        self._hash = blake2b(digest_size=16)
        self._calm = False
        self._deaf_until = 0.0
        self._written: list[tuple[str, bool]] = []
        """What the operator asked for, and whether that changed something."""
        rng = dice(story.seed * 7 + 1)
        self._cluster = ground().cluster(dice(story.seed * 7 + 2))
        self._handle, self._cluster.handle = self._cluster.handle, self._handled
        self._chronicle = Chronicle()
        self._chronicle.follow(self._cluster.store)
        self._hearing = Hearing(story)
        self._watchers = watchers(
            self._chronicle,
            self._hearing,
            fence=_fence(story),
            exact=not any(story.skews) and all(act.what != "jump" for act in story.acts),
            unharmed=story.unharmed,
        )
        self._undisturbed = _is_undisturbed(story)
        if self._undisturbed:
            self._watchers = (*self._watchers, Promptness())
        self._chronicle.hearers.append(self._committed)
        self._hook_trouble = Trouble(
            self._struck, {(f.where, f.at): f for f in story.faults if f.where is Where.HOOK}
        )
        Hooks(self._hook_trouble, self._complain).install(self._cluster.callers)
        self._operators = self._instances()
        hands = {who: Hand(self._cluster, who) for who in ("user", "adversary", "kubelet")}
        self._nodes = Nodes(
            hands["kubelet"], Hand(self._cluster, "scheduler"), self._chronicle, rng
        )
        self._collector = (
            EmbeddedCollector(self._cluster, rng)
            if story.embedded
            else Collector(Hand(self._cluster, "collector"), self._chronicle, rng)
        )
        self._cast = Cast(
            self._chronicle,
            hands["user"],
            hands["adversary"],
            self._nodes,
            self._operators,
            self._complain,
        )
        self._oracle = Oracle(self._chronicle)
        loop.set_exception_handler(self._broke)

    async def run(self) -> Report:
        with listening(self._complain):
            running = [asyncio.ensure_future(one.run()) for one in self._operators]
            acting: list[asyncio.Task[None]] = []
            try:
                await self._act(acting)
                await self._until_converged(acting)
                await self._rest()
                self._report.end = self._ended()
                await self._tear_down()
            finally:
                self._nodes.stop()
                self._collector.stop()
                for task in (*running, *acting):
                    await ended(task, self._complain, "what was begun")
        return self._closed()

    def _instances(self) -> tuple[Operator, ...]:
        around = Surroundings(
            cluster=self._cluster,
            chronicle=self._chronicle,
            makes=self._manner.makes,
            asked=self._asked,
            struck=self._struck,
            complain=self._complain,
            note=self._note,
        )
        made = tuple(Operator(n, self._story, around) for n in range(self._story.instances))
        for fault in self._story.faults:
            if fault.where is Where.TURN and fault.instance < len(made):
                self._loop.at_turn[fault.at] = self._killer(made[fault.instance], fault)
        return made

    def _killer(self, operator: Operator, fault: Fault) -> Callable[[], None]:
        return lambda: None if self._calm else operator.kill(fault)

    async def _act(self, acting: list[asyncio.Task[None]]) -> None:
        for act in sorted(self._story.acts, key=lambda one: one.at):
            await asyncio.sleep(max(0.0, act.at - self._loop.time()))
            acting.append(self._begun(act))
        await asyncio.sleep(CALM_SECONDS)
        encores = list(self._story.encores)
        while encores and not self._was_eventful():
            for act in encores[:_AT_ONCE]:
                acting.append(self._begun(act))
                await asyncio.sleep(act.at)
            del encores[:_AT_ONCE]
            await asyncio.sleep(CALM_SECONDS)
        self._calm = True
        self._note("from here on nothing goes wrong")
        for operator in self._operators:
            operator.trouble.over()
        self._hook_trouble.over()
        self._nodes.heal()

    def _was_eventful(self) -> bool:
        faults = min(EVENTFUL_FAULTS, len(self._story.faults))
        return self._report.steps >= EVENTFUL_STEPS and len(self._report.struck) >= faults

    def _begun(self, act: Act) -> asyncio.Task[None]:
        self._note(f"deed {act.what} {act.args}")
        return asyncio.ensure_future(self._cast.perform(act.what, act.args))

    async def _until_converged(self, acting: Sequence[asyncio.Task[None]]) -> None:
        deadline = self._loop.time() + CONVERGE_SECONDS
        problems: list[str] = ["deeds are not done"]
        while self._loop.time() < deadline:
            await asyncio.sleep(_LOOK_SECONDS)
            if all(task.done() for task in acting):
                problems = list(self._oracle.problems())
                if not problems:
                    break
        for task in acting:
            if task.done() and not task.cancelled() and task.exception() is not None:
                raise task.exception() or AssertionError
        for problem in problems[:_MOST_FINDINGS]:
            self._complain("L-01", problem)

    async def _rest(self) -> None:
        """Settled is settled: nothing is written any more, and a new process sees nothing to do."""
        if self._report.findings:
            return
        patience = OBSTRUCTED_SECONDS if self._oracle.is_obstructed() else SETTLE_SECONDS
        await asyncio.sleep(max(patience, self._deaf_until - self._loop.time()))
        self._written.clear()
        await asyncio.sleep(self._manner.quiet_seconds)
        self._quiet("at rest", patient=self._oracle.is_obstructed())
        if self._manner.restart:
            for operator in self._operators:
                operator.restart()
            await asyncio.sleep(SETTLE_SECONDS)
            self._quiet("after a restart at rest", patient=self._oracle.is_obstructed())
        for problem in self._oracle.problems():
            self._complain("L-01", f"was well, and is not any more: {problem}")

    def _ended(self) -> End:
        end = end_of(self._chronicle, updated=self._story.updated)
        wanted = self._story.pods
        if wanted and end["pods"] != wanted and not self._report.findings:
            self._complain("L-01", f"there are {end['pods']}, and must be {wanted}")
        fallen = [name for one in self._watchers if isinstance(one, Falls) for name in one.fallen]
        for name in self._story.fallen:
            if name not in fallen and not self._report.findings:
                self._complain("GT", f"{name} was broken for too long, and never fell")
        return end

    async def _tear_down(self) -> None:
        """L-04: nothing is left of a set that is gone."""
        if not self._story.teardown or self._report.findings:
            return
        for found in list(self._chronicle.of("podcliquesets")):
            metadata = found["metadata"]
            await self._cast.perform(
                "delete", {"namespace": metadata["namespace"], "name": metadata["name"]}
            )
        left: list[str] = []
        for _ in range(int(GONE_SECONDS / _LOOK_SECONDS)):
            await asyncio.sleep(_LOOK_SECONDS)
            left = [f"{one} is left" for one in self._oracle.remains()]
            if not left:
                return
        for text in left[:_MOST_FINDINGS]:
            self._complain("L-04", text)

    def _quiet(self, when: str, *, patient: bool) -> None:
        """`patient`: what is refused or only told is no harm, as where others hold a name that is
        needed."""
        found = [text for text, changes in self._written if changes or not patient]
        for written in found[:_MOST_FINDINGS]:
            self._complain("I-06", f"{when}: {written}")
        self._written.clear()

    def _committed(self, commit: Commit) -> None:
        kind = "gone" if commit.new is None else ("made" if commit.old is None else "changed")
        self._hash.update(commit.data)
        self._note(f"{commit.caller.who}: {commit.place} {kind} at {commit.number}")
        for watcher in self._watchers:
            for finding in watcher.see(commit):
                self._found(finding)

    def _asked(self, who: str, request: Request, status: int) -> None:
        self._note(f"{who}: {request} {status}")
        if request.method not in _WRITES or "/leases" in request.path:
            return
        again = repeated(request, status, self._chronicle) if self._undisturbed else ()
        for finding in (*unguarded(request), *again):
            self._found(finding)
        changes = "/events" not in request.path and status < 400
        self._report.writes += changes
        # Who is done does not even try. Of what happened before, many events are told one by one.
        if "/events" not in request.path:
            self._written.append((f"{who}: {request} {status}", changes))

    def _struck(self, fault: Fault) -> None:
        self._report.struck.append(fault)
        self._report.faults[fault.kind] += 1
        self._hearing.struck(fault, self._loop.time())
        if fault.kind in _DEAFENING:
            over = self._loop.time() + lasting(fault) + SETTLE_SECONDS
            self._deaf_until = max(self._deaf_until, over)
        self._note(f"FAULT {fault}")

    def _complain(self, kind: str, text: str) -> None:
        self._found(Finding(kind, text))

    def _found(self, finding: Finding) -> None:
        if len(self._report.findings) < _MOST_FINDINGS:
            self._report.findings.append(finding)
        self._note(f"FINDING {finding}")

    def _note(self, text: str) -> None:
        line = f"{self._loop.time():10.4f} {text}"
        self._hash.update(line.encode())
        if self._manner.aloud:
            self._report.lines.append(line)

    def _broke(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._complain("simulation", f"{context.get('message')}: {type(error).__name__}: {error}")

    def _closed(self) -> Report:
        report, first = self._report, self._operators[0].trouble
        report.seconds = self._loop.time()
        report.trace = self._hash.hexdigest()
        report.calls, report.events = first.calls, first.counts[Where.EVENT]
        return report

    async def _handled(self, ask: Ask) -> Answer:
        self._report.steps += 1
        return await self._handle(ask)
