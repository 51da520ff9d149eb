# SPDX-License-Identifier: Apache-2.0
"""Which PriorityClasses pods ask for, and that none can be made without. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Value
from trellis.api.reasons import objects
from trellis.workloads.updates import Why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.template import CliqueTemplate


class _Priority(Value, frozen=True, kw_only=True):
    """What is read of a pod spec."""

    priority_class_name: str = ""


_PRIORITY = msgspec.json.Decoder(_Priority)


def priority_class(found: PodCliqueSet, clique: CliqueTemplate) -> str:
    """That of the pods of a clique. Its own wins over that of the whole set."""
    own = _PRIORITY.decode(clique.spec.pod_spec).priority_class_name
    return own or found.spec.template.priority_class_name


def priority_classes(found: PodCliqueSet) -> tuple[str, ...]:
    """Those of all cliques of a set, each once."""
    named = (priority_class(found, clique) for clique in found.spec.template.cliques)
    return tuple(dict.fromkeys(name for name in named if name))


def unmakeable(
    found: PodCliqueSet, cliques: Iterable[CliqueTemplate], missing: tuple[str, ...]
) -> Why | None:
    """Why no pod of these cliques could be made now, if one of these classes is theirs."""
    if not missing:
        return None
    wanted = dict.fromkeys(priority_class(found, clique) for clique in cliques)
    lacking = [name for name in wanted if name in missing]
    if not lacking:
        return None
    exist = "does not exist" if len(lacking) == 1 else "do not exist"
    return Why(objects.PRIORITY_CLASS_MISSING, f"PriorityClass {', '.join(lacking)} {exist}")
