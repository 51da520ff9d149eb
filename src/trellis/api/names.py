# SPDX-License-Identifier: Apache-2.0
"""The names of everything we make, decided by identity alone: a second create collides.

What Grove names keeps Grove's exact name, because clients compute it. Names are hardly ever taken
apart again: which object belongs to which is read from labels and owners.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from trellis.api.syntax import LABEL_LIMIT

CLUSTER_DOMAIN = "cluster.local"
POD_SUFFIX_LENGTH = 5

# Kubernetes' own alphabet for generated names: no vowels, so no words; nothing to misread.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_POD_NAME = re.compile(
    rf".+-(?P<index>0|[1-9][0-9]{{0,8}})-[{_ALPHABET}]{{{POD_SUFFIX_LENGTH}}}", re.ASCII
)
_IN_REPLICA = re.compile(r"-(?P<index>0|[1-9][0-9]{0,8})(?:-.*)?", re.ASCII)
_DIGEST_LENGTH = 10


def set_replica(set_name: str, index: int) -> str:
    """The base gang of a replica, its headless Service and the subdomain of its pods."""
    return f"{set_name}-{index}"


def replica_of(set_name: str, name: str) -> int | None:
    """The replica of a set to which something of that name belongs, asked for or not.

    Its label says the same until somebody edits that. None: no replica has anything called so.
    """
    starts = name.startswith(set_name)
    match = _IN_REPLICA.fullmatch(name, len(set_name)) if starts else None
    return int(match["index"]) if match else None


def service_host(set_name: str, index: int, namespace: str, domain: str = CLUSTER_DOMAIN) -> str:
    """Where the pods of a replica find each other."""
    return f"{set_replica(set_name, index)}.{namespace}.svc.{domain}"


def clique(set_name: str, index: int, clique_name: str) -> str:
    """A PodClique outside any scaling group, and the autoscaler that scales it."""
    return f"{set_replica(set_name, index)}-{clique_name}"


def scaling_group(set_name: str, index: int, group_name: str) -> str:
    """A PodCliqueScalingGroup, and the autoscaler that scales it."""
    return f"{set_replica(set_name, index)}-{group_name}"


def group_replica(group: str, index: int) -> str:
    """One replica of the scaling group with this full name."""
    return f"{group}-{index}"


def member_clique(group: str, index: int, clique_name: str) -> str:
    """A PodClique inside a replica of the scaling group with this full name."""
    return f"{group_replica(group, index)}-{clique_name}"


def scaled_gang(group: str, index: int, min_available: int) -> str:
    """The gang of a replica beyond those in the base gang. Its number counts from zero again."""
    if index < min_available:
        raise ValueError(
            f"replica {index} of {group} is one of the {min_available} in the base gang"
        )
    return f"{group}-{index - min_available}"


def hostname(clique_fqn: str, pod_index: int) -> str:
    """The host name of a pod, stable across its incarnations."""
    return f"{clique_fqn}-{pod_index}"


def pod(clique_fqn: str, pod_index: int, suffix: str) -> str:
    """One incarnation of a pod. Where it is too long, the name of the clique is cut.

    So its index can always be read from it: see `pod_index_of`.
    """
    tail = f"-{pod_index}-{suffix}"
    return f"{fitted(clique_fqn, LABEL_LIMIT + 1 - len(tail))}{tail}"


def pod_index_of(name: str) -> int | None:
    """The index in a name that `pod` made, for the ledger, which holds nothing but names.

    A pod that exists says its index in a label. None: the name was made by somebody else.
    """
    match = _POD_NAME.fullmatch(name)
    return int(match["index"]) if match else None


def pod_suffix(*identity: str) -> str:
    """The last part of a pod's name: the same identity always has the same."""
    return _digest("\0".join(identity), POD_SUFFIX_LENGTH)


def role(set_name: str) -> str:
    """The Role and RoleBinding that let pods wait for each other."""
    return f"grove.io:pcs:{set_name}"


def token_secret(set_name: str) -> str:
    return f"{set_name}-ic-sat"


def legacy_token_secret(set_name: str) -> str:
    """What older Grove called the same Secret; pods of that time still mount it."""
    return f"{set_name}-initc-sa-token-secret"


def shared_claim(owner: str, template: str, index: int | None = None) -> str:
    """A ResourceClaim that all replicas of an owner share, or those of one index."""
    return f"{owner}-{'all' if index is None else index}-{template}"


def compute_domain(scope: str) -> str:
    """The ComputeDomain of a set replica, clique or group replica with this full name."""
    return fitted(f"{scope}-cd")


def fabric_claim(scope: str) -> str:
    """The ResourceClaim by which pods of the same scope join that domain."""
    return fitted(f"{scope}-mnnvl-claim")


def group_compute_domain(set_name: str, index: int, group: str) -> str:
    """The ComputeDomain of an MNNVL group, and the claim template made for it."""
    return fitted(f"{set_replica(set_name, index)}-{group}")


def fitted(name: str, limit: int = LABEL_LIMIT) -> str:
    """The name itself, or a readable head of it and a digest where it is too long.

    A shortened name always fills the limit and one left alone never does, so that no name can be
    chosen to equal the short form of another.
    """
    if len(name) < limit:
        return name
    head = name[: limit - 1 - _DIGEST_LENGTH].rstrip("-.")
    return f"{head}-{_digest(name, limit - 1 - len(head))}"


def _digest(identity: str, length: int) -> str:
    number = int.from_bytes(blake2b(identity.encode()).digest())
    characters = []
    for _ in range(length):
        number, position = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[position])
    return "".join(characters)
