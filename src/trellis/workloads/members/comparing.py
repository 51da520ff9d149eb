# SPDX-License-Identifier: Apache-2.0
"""How a PodClique that there is differs from the one that is wanted. Pure.

The number of its pods is its own business, once it is there. Labels and annotations that others
added stay; those that the template once had and has no more, go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw, structs

from trellis.api import hashes
from trellis.api.annotation import (
    FROM_TEMPLATE,
    HASH_ALIASES,
    POD_LEDGER,
    PRIORITY_CLASS,
    READY_BEFORE,
)
from trellis.api.grove.podclique import PodClique, PodCliqueSpec
from trellis.api.labels import (
    BASE_POD_GANG,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SHORT_GROUP_NAME,
    SHORT_GROUP_REPLICA_INDEX,
)
from trellis.runtime.difference import difference
from trellis.runtime.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.meta import Metadata, Object
    from trellis.runtime.difference import Json
    from trellis.runtime.plan import Wanted

_SPEC = tuple(
    field.encode_name for field in structs.fields(PodCliqueSpec) if field.name != "replicas"
)
_OURS = (FROM_TEMPLATE, HASH_ALIASES, POD_LEDGER, PRIORITY_CLASS, READY_BEFORE)
# What a clique outside groups and scaled gangs must not bear: another operator may have let it in.
_PLACE = (
    BASE_POD_GANG,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SHORT_GROUP_NAME,
    SHORT_GROUP_REPLICA_INDEX,
)
_RECORD = msgspec.json.Decoder(dict[str, list[str]])


def compare_clique(have: Object, want: Wanted) -> Json:
    """The smallest merge patch; empty where nothing differs. For `converge`."""
    if not isinstance(have, PodClique) or not isinstance(want, PodClique):
        raise TypeError(f"{have.metadata.key} is to be compared with a PodClique")
    metadata = compare_metadata(have.metadata, want.metadata, _PLACE)
    spec = {} if _is_same(have.spec, want.spec) else _spec(have.spec, want.spec)
    patch = {"metadata": metadata, "spec": spec}
    return {name: section for name, section in patch.items() if section}


def compare_metadata(have: Metadata, want: Metadata, ours: Iterable[str] = ()) -> Json:
    """The same for labels and annotations alone, of whatever is made from a template.

    `ours` are labels that are nobody else's to add.
    """
    record = recorded(have)
    patch = {
        "labels": _pairs(have.labels, want.labels, (*record.get("labels", ()), *ours)),
        "annotations": _pairs(
            have.annotations,
            want.annotations,
            (*record.get("annotations", ()), *_OURS),
        ),
    }
    return {name: pairs for name, pairs in patch.items() if pairs}


def _pairs(have: Mapping[str, str], want: Mapping[str, str], ours: Iterable[str]) -> Json:
    patch: Json = {key: value for key, value in want.items() if have.get(key) != value}
    return patch | {key: None for key in ours if key in have and key not in want}


def recorded(have: Metadata) -> Mapping[str, list[str]]:
    """Which of its labels and annotations are a template's."""
    text = have.annotations.get(FROM_TEMPLATE)
    return _parsed(text) if text else {}


@lru_cache(maxsize=256)
def _parsed(text: str) -> Mapping[str, list[str]]:
    try:
        return _RECORD.decode(text)
    except msgspec.MsgspecError:
        return {}


def _is_same(have: PodCliqueSpec, want: PodCliqueSpec) -> bool:
    return (
        have.role_name == want.role_name
        and have.min_available == want.min_available
        and have.starts_after == want.starts_after
        and have.auto_scaling_config == want.auto_scaling_config
        and _say_the_same(have.pod_spec, want.pod_spec)
    )


def _say_the_same(have: Raw, want: Raw) -> bool:
    return have == want or _canonical(bytes(have)) == _canonical(bytes(want))


@lru_cache(maxsize=256)
def _canonical(pod_spec: bytes) -> str:
    """Servers may order fields and write amounts in their own way, and this is asked often."""
    return hashes.digest(hashes.meaning(msgspec.json.decode(pod_spec)))


def _spec(have: PodCliqueSpec, want: PodCliqueSpec) -> Json:
    present, wanted = plain(have), plain(want)
    # A setting that is not wanted goes as a whole: what is left of it would not be valid.
    settings = {name: wanted.get(name) for name in _SPEC}
    return difference(present, settings, tuple((name,) for name in _SPEC))
