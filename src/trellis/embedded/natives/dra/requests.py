# SPDX-License-Identifier: Apache-2.0
"""The requests of a claim by name, as other parts of it refer to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.natives.rules import all_of, distinct, every
from trellis.embedded.natives.syntax import check, dns_label

_UNKNOWN = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


@dataclass(frozen=True, slots=True)
class Requests:
    """Names of requests, each with the names of its alternatives."""

    names: dict[str, frozenset[str]]

    @classmethod
    def of(cls, requests: list[dict[str, Any]]) -> Requests:
        return cls(
            {
                request.get("name") or "": frozenset(
                    alternative.get("name") or ""
                    for alternative in request.get("firstAvailable") or ()
                )
                for request in requests
            }
        )

    def check(self, name: str, path: str) -> list[FieldError]:
        parts = name.split("/")
        if len(parts) > 2:
            return [invalid(path, name, _UNKNOWN)]
        errors = [error for part in parts for error in check(dns_label, path, part)]
        alternatives = self.names.get(parts[0])
        if alternatives is None or (len(parts) == 2 and parts[1] not in alternatives):
            errors.append(invalid(path, name, _UNKNOWN))
        return errors

    def check_all(self, names: list[str], path: str) -> list[FieldError]:
        return all_of(every(self.check), distinct())(names, path)
