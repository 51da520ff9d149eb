# SPDX-License-Identifier: Apache-2.0
"""Taking over PodCliques that another operator made, without one of their pods being touched. Pure.

Its hash of the template cannot be worked out here. Where what it stored says the same as what we
would write, its hash is noted beside ours, for the template that it stands for and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api import hashes
from trellis.api.annotation import HASH_ALIASES
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members.templates import own_annotations, own_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.template import CliqueTemplate

# Templates that come and go while pods of the first still run, and operators that take turns.
_MOST = 8
_ALIASES = msgspec.json.Decoder(dict[str, list[str]])
# What Grove writes into the pod specs that it stores.
_GROVE_VARIABLES = "GROVE_"
_GROVE_CLAIM = "mnnvl-claim"
# Fields of which Grove drops a `false`, because it says the same as nothing.
_OFF_BY_DEFAULT = frozenset(
    {"hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly"}
)


def current_hashes(clique: PodClique) -> frozenset[str]:
    """The hashes of pods that have the current template of that PodClique."""
    own = clique.metadata.labels.get(POD_TEMPLATE_HASH, "")
    return frozenset((own, *_known(clique).get(own, ()))) - {""}


def carries(live: PodClique, template: CliqueTemplate, template_hash: str) -> bool:
    """Whether it has that template, whoever worked out the hash that it bears."""
    stored = live.metadata.labels.get(POD_TEMPLATE_HASH, "")
    return (
        stored == template_hash
        or stored in _known(live).get(template_hash, ())
        or (_is_foreign(stored) and _says_the_same(live, template))
    )


def aliases(live: PodClique, template: CliqueTemplate, template_hash: str) -> str:
    """The annotation that such a PodClique is to have; empty where there is nothing to note."""
    known = dict(_known(live))
    stored = live.metadata.labels.get(POD_TEMPLATE_HASH, "")
    if _is_foreign(stored) and _says_the_same(live, template):
        others = [alias for alias in known.pop(template_hash, []) if alias != stored]
        known[template_hash] = [*others, stored][-_MOST:]
    if not known:
        return ""
    return msgspec.json.encode(dict(list(known.items())[-_MOST:])).decode()


def _known(clique: PodClique) -> Mapping[str, list[str]]:
    text = clique.metadata.annotations.get(HASH_ALIASES)
    if not text:
        return {}
    try:
        return _ALIASES.decode(text)
    except msgspec.MsgspecError:
        # Somebody wrote into it: no pod counts as current because of that.
        return {}


def _is_foreign(template_hash: str) -> bool:
    return bool(template_hash) and not template_hash.startswith(hashes.PREFIX)


def _says_the_same(live: PodClique, template: CliqueTemplate) -> bool:
    """Whether pods made from either would be alike. What was added on the way does not count."""
    return (
        own_labels(template).items() <= live.metadata.labels.items()
        and own_annotations(template).items() <= live.metadata.annotations.items()
        and _essence(live.spec.pod_spec) == _essence(template.spec.pod_spec)
    )


def _essence(pod_spec: msgspec.Raw) -> bytes:
    return hashes.canonical(hashes.meaning(_bare(msgspec.json.decode(pod_spec))))


def _bare(value: Any) -> Any:
    """Without what Grove adds, and without what its types drop as saying nothing."""
    if isinstance(value, list):
        return [_bare(item) for item in value if not _is_groves(item)]
    if not isinstance(value, dict):
        return value
    bare = {name: _bare(inner) for name, inner in value.items()}
    return {name: inner for name, inner in bare.items() if not _says_nothing(name, inner)}


def _is_groves(item: Any) -> bool:
    """An environment variable or a claim. Users may not use these names."""
    name = item.get("name") if isinstance(item, dict) else None
    return isinstance(name, str) and (name.startswith(_GROVE_VARIABLES) or name == _GROVE_CLAIM)


def _says_nothing(name: str, value: Any) -> bool:
    return value in (None, "", [], {}) or (value is False and name in _OFF_BY_DEFAULT)
