# SPDX-License-Identifier: Apache-2.0
"""The door of the API server: who asks, on whose behalf, and whether they may."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from trellis.embedded.access import escalation, reviews, tokens
from trellis.embedded.access.accounts import Rejected
from trellis.embedded.access.authentication import BOUND_TO, Authentication
from trellis.embedded.access.denial import denial
from trellis.embedded.access.impersonation import Impersonation, wanted_user
from trellis.embedded.access.jwt import NotOurs, SigningKey
from trellis.embedded.access.rbac import GROUP, Decision, Rbac
from trellis.embedded.refusals import bad_request, not_found
from trellis.embedded.stamps import stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from trellis.embedded.access.reading import Reader
    from trellis.embedded.asking import Attributes, Object, Review, User
    from trellis.embedded.exchange import Ask
    from trellis.instruments.clock import Clock

_IMPERSONATE = "impersonate-"
_AUTHENTICATION = "authentication.k8s.io/v1"
_INVALID = "invalid bearer token"


class Access:
    """`tokens` are fixed ones, such as the admin's; `key` signs those of service accounts."""

    def __init__(
        self,
        *,
        reader: Reader,
        clock: Clock,
        random: Random,
        key: SigningKey,
        tokens: Mapping[str, User],
    ) -> None:
        self._reader = reader
        self._clock = clock
        self._random = random
        self._key = key
        self._authentication = Authentication(reader, clock, key, tokens)
        self.rbac = Rbac(reader)
        self._impersonation = Impersonation(self.rbac.authorize)

    def enter(self, ask: Ask, wanting: Callable[[User], Attributes]) -> User:
        """All that comes before a request is looked at; returns on whose behalf it is made."""
        wanted = wanting(self.authenticate(ask))
        user = self.act_as(ask, wanted)
        if user is not wanted.user:
            wanted = replace(wanted, user=user)
        self.require(wanted)
        return user

    def authenticate(self, ask: Ask) -> User:
        return self._authentication.user(ask.headers.get("authorization", ""))

    def act_as(self, ask: Ask, wanted: Attributes) -> User:
        """The user that the headers ask to act as, or the caller."""
        for header in ask.headers:
            if header.startswith(_IMPERSONATE):
                break
        else:
            return wanted.user
        other = wanted_user(ask.headers)
        return self._impersonation.user(other, wanted) if other else wanted.user

    def authorize(self, wanted: Attributes) -> Decision:
        return self.rbac.authorize(wanted)

    def require(self, wanted: Attributes) -> None:
        allowed, reason = self.rbac.authorize(wanted)
        if not allowed:
            raise denial(wanted, reason)

    def check_roles(self, review: Review) -> None:
        """Nobody grants more than they have; for every write, before its object is validated."""
        escalation.check(review, self.rbac)

    def invalidate(self, group: str, plural: str, namespace: str, name: str) -> None:
        """An object was committed: what was concluded from it before is forgotten."""
        if group == GROUP:
            self.rbac.invalidate(plural, namespace)
        elif not group and plural in BOUND_TO:
            self._authentication.invalidate(plural, namespace, name)

    def mint(
        self, namespace: str, account: str, audiences: Sequence[str] = (), seconds: int = 3600
    ) -> str:
        """A token of a service account, without asking anybody."""
        spec = {"audiences": list(audiences), "expirationSeconds": seconds}
        request = self.prepare_token_request({"spec": spec}, namespace, account)
        token: str = self.issue_token(request, namespace, account)["status"]["token"]
        return token

    def prepare_token_request(self, body: Object, namespace: str, name: str) -> Object:
        return tokens.prepared(body, self._account(namespace, name), self._clock.now())

    def issue_token(self, request: Object, namespace: str, name: str) -> Object:
        """The answer to a request that was prepared, and admitted since."""
        account = self._account(namespace, name)
        answer, claims = tokens.granted(request, account, self._reader, self._clock.now())
        number = UUID(int=self._random.getrandbits(128), version=4)
        answer["status"]["token"] = self._key.sign({**claims, "jti": str(number)})
        return answer

    def _account(self, namespace: str, name: str) -> Object:
        found = self._reader.get("", "serviceaccounts", namespace, name)
        if found is None:
            raise not_found("", "serviceaccounts", name)
        return found

    def review_token(self, body: Object) -> Object:
        spec = body.get("spec") or {}
        token = spec.get("token") or ""
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        try:
            user, audiences = self._authentication.reviewed(token, spec.get("audiences") or ())
            status: Object = {"authenticated": True, "user": user_info(user)}
            status["audiences"] = list(audiences)
        except NotOurs:
            status = {"user": {}, "error": _INVALID}
        except Rejected as why:
            status = {"user": {}, "error": f"[{_INVALID}, {why}]"}
        metadata = {**(body.get("metadata") or {})}
        metadata.pop("namespace", None)
        about = {"kind": "TokenReview", "apiVersion": _AUTHENTICATION, "metadata": metadata}
        return {**about, "spec": spec, "status": status}

    def review_self(self, user: User) -> Object:
        made = stamp(self._clock.now())
        return {
            "kind": "SelfSubjectReview",
            "apiVersion": _AUTHENTICATION,
            "metadata": {"creationTimestamp": made},
            "status": {"userInfo": user_info(user)},
        }

    def review_access(self, body: Object) -> Object:
        return reviews.subject_access(body, self.rbac)

    def review_local_access(self, body: Object, namespace: str) -> Object:
        return reviews.local_subject_access(body, namespace, self.rbac)

    def review_self_access(self, body: Object, user: User) -> Object:
        return reviews.self_subject_access(body, user, self.rbac)

    def review_self_rules(self, body: Object, user: User) -> Object:
        return reviews.self_subject_rules(body, user, self.rbac)


def user_info(user: User) -> Object:
    """A user as reviews tell of it; what it has not is left out."""
    found = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {field: value for field, value in found.items() if value}
