# SPDX-License-Identifier: Apache-2.0
"""What a pod asks its containers to do, by annotations under `sim.trellis.dev/`. Pure.

A value is for all main containers (`run-seconds: "30"`), or by name (`"server=30,loader=5"`), which
is the way to speak of init containers too. Times are seconds or durations (`1m30s`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trellis.api import durations
from trellis.embedded.nodes.chance import fraction, jittered
from trellis.embedded.nodes.faults import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.embedded.nodes.pods import KubeletPod

START_DELAY = f"{PREFIX}/start-delay"
JITTER = f"{PREFIX}/jitter"
Asked = dict[str, Any]
_LONGEST = 10 * 365 * 24 * 3600.0


class BadAnnotation(ValueError):
    """An annotation that cannot be followed; the message names it, its value and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What one container does each time it is started. Times are seconds from then on.

    `run` None: it runs until it is stopped. `crashes` None: it crashes each time.
    """

    run: float | None = None
    exit_code: int = 0
    ready: float = 0.0
    crash: float | None = None
    crashes: int | None = None
    stop: float = 0.0

    def end(self, restarts: int) -> tuple[float, int] | None:
        """After how many seconds it ends by itself, and with which code."""
        if self.crash is not None and (self.crashes is None or restarts < self.crashes):
            return self.crash, self.exit_code or 1
        return None if self.run is None else (self.run, self.exit_code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviours:
    """What the containers of a pod do, and how long their images take."""

    mains: tuple[Behaviour, ...]
    inits: tuple[Behaviour, ...]
    start_delay: float = 0.0


PLAIN = Behaviour()
AT_ONCE = Behaviour(run=0.0)


def behaviours(pod: KubeletPod, seed: int) -> Behaviours:
    """Raises BadAnnotation for one that cannot be followed."""
    spec, annotations = pod.spec, pod.metadata.annotations
    bases = tuple(
        PLAIN if one.restart_policy == "Always" else AT_ONCE for one in spec.init_containers
    )
    if not any(name.startswith(f"{PREFIX}/") for name in annotations):
        return Behaviours(mains=(PLAIN,) * len(spec.containers), inits=bases)
    share = _share(annotations)
    general, own = _asked(pod)

    def drawn(container: str, what: str, value: Any) -> Any:
        if not share or not isinstance(value, float):
            return value
        where = (spec.node_name, pod.metadata.namespace, pod.metadata.name, container, what)
        return jittered(value, share, fraction(seed, *where))

    def of(container: str, base: Behaviour, common: Asked) -> Behaviour:
        asked = {**common, **own.get(container, {})}
        return replace(base, **{what: drawn(container, what, asked[what]) for what in asked})

    delay = _seconds(START_DELAY, annotations[START_DELAY]) if START_DELAY in annotations else 0.0
    return Behaviours(
        mains=tuple(of(one.name, PLAIN, general) for one in spec.containers),
        inits=tuple(
            of(one.name, base, {}) for one, base in zip(spec.init_containers, bases, strict=True)
        ),
        start_delay=drawn("", "start-delay", delay),
    )


def _asked(pod: KubeletPod) -> tuple[Asked, dict[str, Asked]]:
    """What is asked of all main containers, and of single ones by name."""
    known = [one.name for one in (*pod.spec.containers, *pod.spec.init_containers)]
    general: Asked = {}
    own: dict[str, Asked] = {}
    for key, (what, read) in _FIELDS.items():
        for part in filter(None, pod.metadata.annotations.get(key, "").split(",")):
            name, named, value = part.strip().rpartition("=")
            if named and name not in known:
                raise BadAnnotation(
                    f"{key}: {part.strip()!r} is of no container; use one of {', '.join(known)}"
                )
            asked = own.setdefault(name, {}) if named else general
            asked[what] = read(key, value)
    return general, own


def _share(annotations: Mapping[str, str]) -> float:
    text = annotations.get(JITTER, "0")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise BadAnnotation(f"{JITTER}: {text!r} is no share; write a number from 0 to 1: 0.2")
    return share


def _seconds(key: str, text: str) -> float:
    try:
        seconds = durations.to_seconds(text if text[-1:].isalpha() else f"{text}s")
    except durations.InvalidDuration:
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST:
        raise BadAnnotation(f"{key}: {text!r} is no time; write seconds or a duration: 30, 1m30s")
    return seconds


def _whole(key: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise BadAnnotation(f"{key}: {text!r} is no number from 0 to {most}; write one")
    return int(text)


def _exit_code(key: str, text: str) -> int:
    return _whole(key, text, 255)


def _times(key: str, text: str) -> int:
    return _whole(key, text, 1_000_000)


_FIELDS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    f"{PREFIX}/run-seconds": ("run", _seconds),
    f"{PREFIX}/exit-code": ("exit_code", _exit_code),
    f"{PREFIX}/ready-delay": ("ready", _seconds),
    f"{PREFIX}/crash-after": ("crash", _seconds),
    f"{PREFIX}/crash-times": ("crashes", _times),
    f"{PREFIX}/stop-delay": ("stop", _seconds),
}
