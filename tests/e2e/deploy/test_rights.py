# SPDX-License-Identifier: Apache-2.0
"""Who may do what once it is installed, in the words of the API server."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.e2e.deploy.conftest import INSTALLATION
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually
from trellis.api.permissions import Where
from trellis.app.manifests.__main__ import components
from trellis.app.manifests.configuration import configuration
from trellis.app.manifests.foundation import foundation
from trellis.app.manifests.installation import CONTROLLERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster
    from trellis.api.permissions import Grant

Right = tuple[str, str, str]
"""A resource, the name of one object of it or nothing, a verb."""
_ROW = re.compile(r"(\S*) +\[(.*?)\] +\[(.*?)\] +\[(.*?)\]")
DECLARED = [
    *foundation(
        configuration(CONTROLLERS), [hook for each in components() for hook in each.webhooks]
    ),
    *(grant for each in components() for grant in each.grants),
]


def declared(*grants: Grant) -> set[Right]:
    rights = {
        (_spelled(resource, grant.group), name, verb)
        for grant in grants
        for resource, name, verb in product(grant.resources, grant.names or ("",), grant.verbs)
    }
    # The server does not say of one what it has said of all.
    return {one for one in rights if not one[1] or (one[0], "", one[2]) not in rights}


def _spelled(resource: str, group: str) -> str:
    """As kubectl names a resource: `things.group/status`."""
    name, slash, part = resource.partition("/")
    return f"{name}.{group}{slash}{part}" if group else resource


async def listed(cluster: Cluster, account: str, namespace: str) -> set[Right]:
    """What `kubectl auth can-i --list` says that an account of ours may do to resources."""
    token = await cluster.kubectl("create", "token", account, "-n", INSTALLATION.namespace)
    said = await cluster.kubectl(
        "auth", "can-i", "--list", "--token", token.strip(), "-n", namespace, "--no-headers"
    )
    rows = [row.groups() for line in said.splitlines() if (row := _ROW.fullmatch(line.strip()))]
    assert rows, said
    return {
        (resource, name, verb)
        for resource, _, names, verbs in rows
        for name, verb in product(names.split() or [""], verbs.split())
        if resource
    }


@pytest.mark.parametrize(
    ("namespace", "places"),
    [
        pytest.param(INSTALLATION.namespace, [Where.OWN, Where.EVERYWHERE], id="in its namespace"),
        pytest.param("default", [Where.EVERYWHERE], id="in any other"),
    ],
)
async def test_the_operator_may_do_exactly_what_its_parts_declare(
    installed: Cluster, namespace: str, places: list[Where]
) -> None:
    anybody = await listed(installed, "default", namespace)
    operator = await listed(installed, INSTALLATION.name, namespace)
    assert anybody <= operator
    assert operator - anybody == declared(*(one for one in DECLARED if one.where in places))


@pytest.fixture(scope="module")
async def tenant(installed: Cluster) -> AsyncIterator[str]:
    """A namespace with a user for each of Kubernetes' own roles, named like it."""
    async with fresh_namespace(installed.api) as namespace:
        for role in ("view", "edit", "admin"):
            await installed.kubectl(
                "create", "rolebinding", role, f"--clusterrole={role}", f"--user={role}",
                "-n", namespace,
            )  # fmt: skip

        async def aggregated() -> bool:
            said = await can(installed, "admin", "create podgangs.scheduler.grove.io", namespace)
            return said == "yes"

        await eventually(aggregated, "our roles to be part of Kubernetes' own")
        yield namespace


async def can(cluster: Cluster, user: str, request: str, namespace: str) -> str:
    said = await cluster.kubectl(
        "auth", "can-i", *request.split(), "-n", namespace, f"--as={user}", check=False
    )
    return said.split()[-1]


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        ("watch podcliquesets.grove.io", "view edit admin"),
        ("get podgangs.scheduler.grove.io", "view edit admin"),
        ("create podcliquesets.grove.io", "edit admin"),
        ("patch podcliques.grove.io --subresource=scale", "edit admin"),
        ("delete podcliques.grove.io", "edit admin"),
        ("patch podcliques.grove.io", "admin"),
        ("delete podgangs.scheduler.grove.io", "admin"),
        ("patch podcliquesets.grove.io --subresource=status", ""),
    ],
)
async def test_users_of_a_namespace_may(
    installed: Cluster, tenant: str, request_: str, allowed: str
) -> None:
    users = ("view", "edit", "admin")
    said = [user for user in users if await can(installed, user, request_, tenant) == "yes"]
    assert " ".join(said) == allowed
