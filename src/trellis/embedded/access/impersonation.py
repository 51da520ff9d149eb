# SPDX-License-Identifier: Apache-2.0
"""Acting as another user: what the headers ask for, and whether the caller may.

There are several modes of asking. The constrained ones need a permission for the request too
(`impersonate-on:MODE:VERB`); the old one (`impersonate`) is tried last. As on the real server,
the mode that last worked for a caller is tried first the next time, which tells the refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from trellis.embedded.access.accounts import groups as account_groups
from trellis.embedded.access.accounts import split_user_name
from trellis.embedded.access.denial import denial
from trellis.embedded.asking import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
    Attributes,
    User,
)
from trellis.embedded.fielderrors import shown
from trellis.embedded.natives.syntax import dns_subdomain
from trellis.embedded.refusals import Refusal, bad_request

if TYPE_CHECKING:
    from trellis.embedded.access.rbac import Decision

_USER, _UID, _GROUP = "impersonate-user", "impersonate-uid", "impersonate-group"
_EXTRA = "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"
_NODE = "system:node:"
_NODES = "system:nodes"
_REMEMBERED = 10_000

Authorize = Callable[[Attributes], "Decision"]


def wanted_user(headers: Mapping[str, str]) -> User | None:
    """The user that the headers name, as they do; None if they name none."""
    name, uid = headers.get(_USER, ""), headers.get(_UID, "")
    groups = tuple(headers[_GROUP].split(", ")) if _GROUP in headers else ()
    extra = {
        unquote(header.removeprefix(_EXTRA)): tuple(value.split(", "))
        for header, value in headers.items()
        if header.startswith(_EXTRA)
    }
    wanted = User(name=name, uid=uid, groups=groups, extra=extra)
    if name:
        return wanted
    if uid or groups or extra:
        raise bad_request(f"requested {_go(wanted)} without impersonating a user name")
    return None


def _go(user: User) -> str:
    """How Go prints such a user; the message holds it."""
    extra = "(nil)"
    if user.extra:
        told = (f"{shown(key)}:{_go_list(user.extra[key])}" for key in sorted(user.extra))
        extra = "{" + ", ".join(told) + "}"
    return (
        f"&user.DefaultInfo{{Name:{shown(user.name)}, UID:{shown(user.uid)},"
        f" Groups:{_go_list(user.groups)}, Extra:map[string][]string{extra}}}"
    )


def _go_list(words: Sequence[str]) -> str:
    return "[]string{" + ", ".join(map(shown, words)) + "}" if words else "[]string(nil)"


@dataclass(frozen=True, slots=True)
class _Mode:
    """One way to be allowed. `constraint` is empty for the old way."""

    constraint: str
    fits: Callable[[User, User], bool]

    @property
    def verb(self) -> str:
        return f"impersonate:{self.constraint}" if self.constraint else "impersonate"


def _only_named(wanted: User) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def _node(name: str) -> str:
    """The node that a user name stands for, or nothing."""
    node = name.removeprefix(_NODE) if name.startswith(_NODE) else ""
    return node if node and not dns_subdomain(node) else ""


def _is_own_node(wanted: User, caller: User) -> bool:
    node = _node(wanted.name)
    on = caller.extra.get("authentication.kubernetes.io/node-name", ())
    return bool(node and split_user_name(caller.name) and tuple(on) == (node,))


_OWN_NODE = "associated-node"
_MODES = (
    _Mode(_OWN_NODE, lambda wanted, caller: _only_named(wanted) and _is_own_node(wanted, caller)),
    _Mode("arbitrary-node", lambda wanted, _: _only_named(wanted) and bool(_node(wanted.name))),
    _Mode(
        "serviceaccount",
        lambda wanted, _: _only_named(wanted) and split_user_name(wanted.name) is not None,
    ),
    _Mode(
        "user-info",
        lambda wanted, _: not _node(wanted.name) and split_user_name(wanted.name) is None,
    ),
    _Mode("", lambda *_: True),
)


class Impersonation:
    """Decides who may act as whom. `authorize` is asked for each part of the wanted user."""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self._worked: dict[str, _Mode] = {}

    def user(self, wanted: User, request: Attributes) -> User:
        """The user to act as; raises the refusal of the first mode that was tried."""
        caller = request.user
        last = self._worked.get(caller.name)
        refused: Refusal | None = None
        for mode in sorted(_MODES, key=lambda mode: mode is not last):
            if not mode.fits(wanted, caller):
                continue
            try:
                self._check(mode, wanted, request)
            except Refusal as refusal:
                refused = refused or refusal
                continue
            if len(self._worked) >= _REMEMBERED:
                self._worked.clear()
            self._worked[caller.name] = mode
            return _completed(wanted, mode)
        assert refused  # noqa: S101 - the last mode fits everybody
        raise refused

    def _check(self, mode: _Mode, wanted: User, request: Attributes) -> None:
        if mode.constraint:
            verb = f"impersonate-on:{mode.constraint}:{request.verb}"
            self._require(replace(request, verb=verb))
        for asked in _parts(mode, wanted, request.user):
            self._require(asked)

    def _require(self, asked: Attributes) -> None:
        allowed, reason = self._authorize(asked)
        if not allowed:
            raise denial(asked, reason)


def _parts(mode: _Mode, wanted: User, caller: User) -> list[Attributes]:
    """What must be allowed for each thing that the wanted user is or has."""
    named = _AUTHENTICATION if mode.constraint else ""
    base = Attributes(user=caller, verb=mode.verb, group=_AUTHENTICATION, version="v1")
    found = [_name_part(mode, wanted, replace(base, group=named))]
    if wanted.uid:
        found.append(replace(base, resource="uids", name=wanted.uid))
    groups = replace(base, group=named, resource="groups")
    if mode.constraint:
        _refuse_special(wanted, groups)
    found += [replace(groups, name=group) for group in wanted.groups]
    found += [
        replace(base, resource="userextras", subresource=key, name=value)
        for key, values in wanted.extra.items()
        for value in values
    ]
    return found


def _refuse_special(wanted: User, groups: Attributes) -> None:
    if "" in wanted.groups:
        raise denial(groups, "impersonating the empty string group is not allowed")
    if MASTERS in wanted.groups:
        why = "impersonating the system:masters group is not allowed"
        raise denial(replace(groups, name=MASTERS), why)


def _name_part(mode: _Mode, wanted: User, base: Attributes) -> Attributes:
    if account := split_user_name(wanted.name):
        namespace, name = account
        return replace(base, resource="serviceaccounts", namespace=namespace, name=name)
    if mode.constraint and (node := _node(wanted.name)):
        return replace(base, resource="nodes", name="*" if mode.constraint == _OWN_NODE else node)
    return replace(base, resource="users", name=wanted.name)


def _completed(wanted: User, mode: _Mode) -> User:
    """With the groups that come by themselves."""
    groups = wanted.groups
    account = split_user_name(wanted.name)
    if account and not groups:
        groups = account_groups(account[0])
    elif mode.constraint and _node(wanted.name):
        groups = (_NODES,)
    extra = UNAUTHENTICATED if wanted.name == ANONYMOUS else AUTHENTICATED
    if extra not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, extra)
    return replace(wanted, groups=groups)
