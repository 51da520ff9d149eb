# SPDX-License-Identifier: Apache-2.0
"""What to send so that an object becomes what is wanted: the smallest merge patch. Pure.

What the server fills in, and what others add, is left alone, except in sections that are wholly
ours: there, what is not wanted goes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
# The names on the way to a section; the empty path is the section itself.
Path: TypeAlias = tuple[str, ...]


def difference(have: Json, want: Json, ours: tuple[Path, ...] = ()) -> Json:
    """A merge patch that turns `have` into `want`; empty when nothing differs.

    A wanted None means that it must not be there. `ours` are the sections that are wholly ours.
    """
    patch: Json = {}
    for name in dict.fromkeys((*want, *(path[0] for path in ours if path))):
        below = tuple(path[1:] for path in ours if path[:1] == (name,))
        found = have.get(name)
        # A section of ours of which nothing is wanted is not mentioned in what is.
        wanted = want[name] if name in want else {} if isinstance(found, dict) else None
        if isinstance(wanted, dict) and isinstance(found, dict):
            inner = _wholly(found, wanted) if () in below else difference(found, wanted, below)
            if inner:
                patch[name] = inner
        elif not _has(found, wanted, exactly=() in below) and (name in want or () in below):
            patch[name] = wanted
    return patch


def _wholly(have: Json, want: Json) -> Json:
    """The same where nobody else has a say: what is not wanted goes."""
    surplus = {name: None for name, value in have.items() if name not in want and value is not None}
    everything = tuple((name,) for name in want)
    return difference(have, want, everything) | surplus


def _has(found: Any, wanted: Any, *, exactly: bool) -> bool:
    if not wanted and isinstance(wanted, dict | list):
        # Servers drop what is empty.
        return found in (None, {}, [])
    if isinstance(found, bool) is not isinstance(wanted, bool):
        return False
    if exactly or type(found) is not type(wanted):
        return bool(found == wanted)
    if isinstance(wanted, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(_has(*pair, exactly=False) for pair in pairs)
    if isinstance(wanted, dict):
        return not difference(found, wanted)
    return bool(found == wanted)
