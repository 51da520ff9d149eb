# SPDX-License-Identifier: Apache-2.0
"""What every namespace has: a default service account, and the certificates of the server."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from trellis.api.meta import Key, Metadata
from trellis.embedded.controllers.kinds import ConfigMap, Namespace, ServiceAccount
from trellis.kube.errors import Forbidden, NotFound
from trellis.kube.verbs import Selection
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.controller import Controller, Wakes
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.plan import by_fields, by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.meta import Object
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.runtime.plan import Comparison

ACCOUNT = "default"
CERTIFICATES = "kube-root-ca.crt"
# For what was made and deleted before the cache could show it.
LOST_SECONDS = 1.0
_DESCRIPTION = {
    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the "
    "kube-apiserver when using internal endpoints such as the internal service IP or "
    "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
}


def service_accounts(means: Means) -> Controller[Namespace]:
    cache = Cache(ServiceAccount.resource, ServiceAccount, scope=_named(ACCOUNT))

    def wanted(namespace: str) -> ServiceAccount:
        return ServiceAccount(metadata=Metadata(name=ACCOUNT, namespace=namespace))

    return _in_every("serviceaccount", means.namespaces, cache, wanted, by_name)


def root_certificates(means: Means) -> Controller[Namespace]:
    cache = Cache(ConfigMap.resource, ConfigMap, scope=_named(CERTIFICATES))

    def wanted(namespace: str) -> ConfigMap:
        metadata = Metadata(name=CERTIFICATES, namespace=namespace, annotations=_DESCRIPTION)
        return ConfigMap(metadata=metadata, data={"ca.crt": means.options.root_ca})

    return _in_every("root-ca", means.namespaces, cache, wanted, by_fields("data"))


def _in_every(
    name: str,
    namespaces: Cache[Namespace],
    cache: Cache[Any],
    wanted: Callable[[str], Object],
    compare: Comparison,
) -> Controller[Namespace]:
    """Keeps an object of that one kind and name in every namespace that stays."""

    async def reconcile(key: Key, io: IO) -> Outcome:
        found = namespaces.get(key)
        if found is None or found.metadata.deleting:
            return DONE
        want = wanted(key.name)
        # A namespace that is going takes nothing new.
        with suppress(NotFound, Forbidden):
            try:
                await io.keep(cache, want.metadata.key, want, compare)
            except CacheBehind:
                # The cache wakes us with what we wrote: the namespace owes nothing, so that to
                # wait for it would be to ask again at once, for ever.
                return Again(LOST_SECONDS)
        return DONE

    return Controller(
        name=name,
        cache=namespaces,
        reconcile=reconcile,
        woken_by=(Wakes(cache, lambda found: (Key("", found.metadata.namespace),)),),
    )


def _named(name: str) -> Scope:
    return Scope(selection=Selection(fields=f"metadata.name={name}"))
