# SPDX-License-Identifier: Apache-2.0
"""What users may do with our kinds, added to Kubernetes' own roles view, edit and admin.

Each of those holds the one before it. Kinds without a namespace can only be read: to write them is
for whoever administers the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.permissions import READ
from trellis.app.manifests.rbac import ALL, API_VERSION, rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.schema.kinds import Served
    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation
    from trellis.app.manifests.rbac import Rights

WRITE = ("create", "delete", "deletecollection", "patch", "update")
SCALE = ("get", "patch", "update")
# The other kinds are made by us, from these.
_WRITTEN_BY_USERS = (PodCliqueSet,)


def user_roles(kinds: Iterable[Served], installation: Installation) -> Iterator[Manifest]:
    served = tuple(kinds)
    for name, rights in (
        ("view", _view(served)),
        ("edit", _edit(served)),
        ("admin", _admin(served)),
    ):
        metadata = installation.metadata(f"grove:{name}", f"{name}-clusterrole")
        metadata["labels"][f"rbac.authorization.k8s.io/aggregate-to-{name}"] = "true"
        yield {
            "apiVersion": API_VERSION,
            "kind": "ClusterRole",
            "metadata": metadata,
            "rules": rules(rights),
        }


def _view(kinds: Iterable[Served]) -> Rights:
    return _rights(kinds, READ)


def _edit(kinds: tuple[Served, ...]) -> Rights:
    """Write what is users' to write; scale what runs pods, and delete it to have it made anew."""
    scaled = [served for served in kinds if served.selector]
    written = [served for served in kinds if served.type in _WRITTEN_BY_USERS]
    return {
        **_rights(scaled, SCALE, "/scale"),
        **_rights(scaled, ("delete",)),
        **_rights(written, WRITE),
    }


def _admin(kinds: Iterable[Served]) -> Rights:
    """Repair by hand what we have made."""
    return _rights((served for served in kinds if served.type.resource.namespaced), WRITE)


def _rights(kinds: Iterable[Served], verbs: tuple[str, ...], part: str = "") -> Rights:
    resources = (served.type.resource for served in kinds)
    return {(one.group, f"{one.plural}{part}", ALL): set(verbs) for one in resources}
