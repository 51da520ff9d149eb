# SPDX-License-Identifier: Apache-2.0
"""Field selectors: which fields a kind can be selected by, and whether an object is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from trellis.embedded.refusals import bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.served import Served

NAME, NAMESPACE = "metadata.name", "metadata.namespace"
# A comma or a sign may be meant literally, after a backslash.
_TERM = re.compile(r"(?:[^\\,]|\\.)+")
_SIGN = re.compile(r"(?:[^\\=!]|\\.|!(?!=))*?(!=|==|=)")
# The kinds whose own conversion of field labels words its refusal in its own way.
_OWN_WORDS = {
    ("batch", "Job"): 'field label "{}" not supported for Job',
    ("resource.k8s.io", "ResourceSlice"): (
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}"
    ),
}
_NOT_SUPPORTED = "field label not supported: {}"
_ONLY_METADATA = '"{}" is not a known field selector: only "metadata.name", "metadata.namespace"'


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All terms must hold: field, whether it must be equal, value."""

    terms: tuple[tuple[str, bool, str], ...] = ()

    @property
    def everything(self) -> bool:
        return not self.terms

    def equal(self, field: str) -> str | None:
        """The one value that a field must have, if the selector says so."""
        return next((value for name, same, value in self.terms if same and name == field), None)

    def matches(self, fields: Mapping[str, str]) -> bool:
        return all((fields.get(name, "") == value) is same for name, same, value in self.terms)


def parse_fields(text: str, served: Served) -> FieldSelector:
    selector = _parsed(text)
    for name, _, _ in selector.terms:
        if name not in {NAME, NAMESPACE} and name not in served.selectable:
            raise bad_request(_refusal(served).format(name))
    return selector


def _refusal(served: Served) -> str:
    own = _OWN_WORDS.get((served.group, served.kind))
    if own:
        return own
    return _NOT_SUPPORTED if served.selectable or served.custom else _ONLY_METADATA


@lru_cache(maxsize=512)
def _parsed(text: str) -> FieldSelector:
    terms = []
    for term in _TERM.findall(text):
        found = _SIGN.match(term)
        if not found:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        sign = found.group(1)
        name, value = term[: found.start(1)], term[found.end(1) :]
        terms.append((name, sign != "!=", _unescaped(value)))
    return FieldSelector(tuple(terms))


def _unescaped(value: str) -> str:
    return re.sub(r"\\([\\,=])", r"\1", value)
