# SPDX-License-Identifier: Apache-2.0
"""Who a bearer token belongs to. A good answer is remembered until what it rests on changes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from trellis.embedded.access.accounts import ISSUER, Dependency, Rejected, Standing, check
from trellis.embedded.access.jwt import NotOurs, SigningKey
from trellis.embedded.asking import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from trellis.embedded.refusals import unauthorized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.embedded.access.reading import Reader
    from trellis.instruments.clock import Clock

NOBODY = User(name=ANONYMOUS, groups=(UNAUTHENTICATED,))
BOUND_TO = frozenset({"serviceaccounts", "pods", "secrets", "nodes"})
_REMEMBERED = 10_000
_AUDIENCES = (ISSUER,)


class Authentication:
    def __init__(
        self, reader: Reader, clock: Clock, key: SigningKey, tokens: Mapping[str, User]
    ) -> None:
        self._reader = reader
        self._clock = clock
        self._key = key
        self._fixed = {token: _authenticated(user) for token, user in tokens.items()}
        self._standing: dict[str, Standing] = {}
        self._resting_on: defaultdict[Dependency, list[str]] = defaultdict(list)

    def user(self, authorization: str) -> User:
        """Of an Authorization header. One without a bearer token is nobody's, a bad one raises."""
        token = bearer(authorization)
        if not token:
            return NOBODY
        fixed = self._fixed.get(token)
        if fixed:
            return fixed
        known = self._standing.get(token)
        if known and known.until >= self._clock.now().timestamp():
            return known.user
        try:
            return self._examined(token).user
        except (NotOurs, Rejected):
            raise unauthorized() from None

    def reviewed(self, token: str, audiences: Sequence[str]) -> tuple[User, tuple[str, ...]]:
        """Whose a token is and for whom it is good; raises `NotOurs` or `Rejected`."""
        fixed = self._fixed.get(token)
        if fixed:
            return fixed, tuple(audiences or _AUDIENCES)
        now = self._clock.now().timestamp()
        found = check(self._key.verify(token), audiences or _AUDIENCES, now, self._reader)
        return found.user, found.audiences

    def invalidate(self, plural: str, namespace: str, name: str) -> None:
        for token in self._resting_on.pop((plural, namespace, name), ()):
            self._standing.pop(token, None)

    def _examined(self, token: str) -> Standing:
        claims = self._key.verify(token)
        now = self._clock.now().timestamp()
        standing = check(claims, _AUDIENCES, now, self._reader)
        if len(self._standing) >= _REMEMBERED:
            self._standing.clear()
            self._resting_on.clear()
        self._standing[token] = standing
        for dependency in standing.depends_on:
            self._resting_on[dependency].append(token)
        return standing


def bearer(authorization: str) -> str:
    """The token of a header's value, empty if it holds none."""
    parts = authorization.strip().split(" ", 2)
    if len(parts) < 2 or parts[0].lower() != "bearer":
        return ""
    return parts[1]


def _authenticated(user: User) -> User:
    if AUTHENTICATED in user.groups:
        return user
    return User(
        name=user.name, uid=user.uid, groups=(*user.groups, AUTHENTICATED), extra=user.extra
    )
