# SPDX-License-Identifier: Apache-2.0
"""Whether a path leads to a resource, and whether a method may be used there.

Kubernetes' own kinds and custom ones are served by two different servers inside the real one, and
they refuse in different words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded import refusals

if TYPE_CHECKING:
    from trellis.embedded.core.registry import Registry
    from trellis.embedded.core.route import Target
    from trellis.embedded.exchange import Ask
    from trellis.embedded.served import Served

_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_CUSTOM = {**_OBJECT, "HEAD": "get", "POST": "create"}


class NoSuchPage(Exception):
    """Answered in plain text, not with a Status."""


def resource_at(registry: Registry, wanted: Target, ask: Ask) -> Served:
    served = registry.find(wanted.group, wanted.version, wanted.resource)
    if served is None:
        if registry.is_native_group(wanted.group):
            raise refusals.no_such_resource()
        raise NoSuchPage
    (_custom if served.custom else _native)(served, wanted, ask)
    return served


def _native(served: Served, wanted: Target, ask: Ask) -> None:
    if _misplaced(served, wanted) or _unknown_subresource(served, wanted):
        raise refusals.no_such_resource()
    if wanted.name and tuple(served.verbs) == ("create",) and not wanted.subresource:
        # Questions that are answered and not kept have no names.
        raise refusals.no_such_resource()
    if wanted.watched:
        allowed = ask.method == "GET" and "watch" in served.verbs
    elif wanted.subresource:
        verb = {**_OBJECT, "POST": "create"}.get(ask.method)
        allowed = verb in served.subresources[wanted.subresource]["verbs"]
    elif wanted.name:
        allowed = _OBJECT.get(ask.method) in served.verbs
    else:
        verb = _COLLECTION.get(ask.method)
        everywhere = served.namespaced and not wanted.namespace
        allowed = verb in served.verbs and not (everywhere and ask.method != "GET")
    if not allowed:
        raise refusals.method_not_allowed()
    if wanted.name in {".", ".."}:
        why = f"may not be '{wanted.name}'"
        raise refusals.bad_request(f'Name parameter invalid: "{wanted.name}": {why}')


def _custom(served: Served, wanted: Target, ask: Ask) -> None:
    if _misplaced(served, wanted):
        raise NoSuchPage
    if served.namespaced and not wanted.namespace and ask.method not in {"GET", "HEAD"}:
        raise NoSuchPage
    if _unknown_subresource(served, wanted):
        raise refusals.not_found(served.group, served.plural, wanted.name)
    verb = _CUSTOM.get(ask.method, "")
    if wanted.subresource and verb not in {"get", "update", "patch"}:
        raise not_supported(served, verb)
    if not verb:
        raise not_supported(served, verb)
    if verb in {"update", "patch"} and not wanted.name:
        raise refusals.bad_request("name must be provided")


def not_supported(served: Served, verb: str) -> refusals.Refusal:
    named = refusals.qualified(served.group, served.plural)
    message = f'{verb} is not supported on resources of kind "{named}"'
    details = refusals.details(served.group, served.plural, "")
    return refusals.Refusal(405, "MethodNotAllowed", message, details)


def _misplaced(served: Served, wanted: Target) -> bool:
    """A path inside a namespace to what lies in none, or to one object of a kind outside of any."""
    if served.kind == "Namespace" and not served.group:
        return False
    if served.namespaced:
        return bool(wanted.name) and not wanted.namespace
    return bool(wanted.namespace)


def _unknown_subresource(served: Served, wanted: Target) -> bool:
    return bool(wanted.subresource) and wanted.subresource not in served.subresources
