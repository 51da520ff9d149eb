# SPDX-License-Identifier: Apache-2.0
"""Whether a client printed what it printed when the real server answered, command by command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance import goldens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.conformance.clients.telling import Told
    from tests.conformance.differences import Known


def problems(
    client: str, expected: Mapping[str, Told], told: Mapping[str, Told], known: Sequence[Known]
) -> list[str]:
    """What differs and is not explained, and explanations of what does not differ."""
    differing: list[str] = []
    unexplained: list[str] = []
    same: list[str] = []
    for key, golden, said in _steps(client, expected, told):
        if golden == said:
            same.append(key)
            continue
        differing.append(key)
        if not any(one.covers(key) for one in known):
            unexplained.append(f"{key}\n{goldens.difference(golden, said)}")
    stale = [
        f"{one.probe!r} differs no more"
        for one in known
        if any(map(one.covers, same)) and not any(map(one.covers, differing))
    ]
    return unexplained + stale


def _steps(
    client: str, expected: Mapping[str, Told], told: Mapping[str, Told]
) -> Iterator[tuple[str, Told, Told]]:
    """Each command's key with what was printed then and now; nothing stands for no such command."""
    for title, said in told.items():
        golden = expected.get(title, [])
        for index in range(max(len(golden), len(said))):
            then, now = golden[index : index + 1], said[index : index + 1]
            line = (then or now)[0].get("command", "")
            yield f"{client}: {title}: {line}", then, now
