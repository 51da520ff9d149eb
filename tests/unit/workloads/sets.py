# SPDX-License-Identifier: Apache-2.0
"""PodCliqueSets by a few words, as they are stored: with everything that admission fills in."""

from __future__ import annotations

from typing import Any

import msgspec

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.template import ANY_ORDER

Json = dict[str, Any]

POD_SPEC: Json = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}


def a_clique(name: str, replicas: int = 1, least: int | None = None, **spec: Any) -> Json:
    """A clique of the template. `least` is its minAvailable; left out: all its replicas."""
    template: Json = {key: spec.pop(key) for key in ("labels", "annotations") if key in spec}
    return {
        "name": name,
        **template,
        "spec": {
            "roleName": name,
            "replicas": replicas,
            "minAvailable": replicas if least is None else least,
            "podSpec": POD_SPEC,
            **spec,
        },
    }


def a_group(name: str, *cliques: str, replicas: int = 1, least: int = 1, **more: Any) -> Json:
    """A scaling group of the template."""
    return {
        "name": name,
        "cliqueNames": list(cliques),
        "replicas": replicas,
        "minAvailable": least,
        **more,
    }


def a_set_body(
    name: str = "llm",
    *cliques: Json,
    groups: tuple[Json, ...] = (),
    replicas: int = 1,
    startup: str = ANY_ORDER,
    **template: Any,
) -> Json:
    """A set as a user or the API server would write it."""
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "template": {
                "cliqueStartupType": startup,
                "terminationDelay": "4h",
                "headlessServiceConfig": {"publishNotReadyAddresses": True},
                "cliques": list(cliques) or [a_clique("worker")],
                "podCliqueScalingGroups": list(groups),
                **template,
            },
        },
    }


def a_set(name: str = "llm", *cliques: Json, **more: Any) -> PodCliqueSet:
    """The same as it is read, with what the server adds."""
    metadata = {
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "generation": 1,
        **more.pop("metadata", {}),
    }
    body = a_set_body(name, *cliques, **more)
    body["metadata"] |= metadata
    return msgspec.json.decode(msgspec.json.encode(body), type=PodCliqueSet)
