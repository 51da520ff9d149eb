# SPDX-License-Identifier: Apache-2.0
"""From the text of a configuration file to a configuration, or to all that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from trellis.api import strictyaml
from trellis.api.config.meaning import inert_keys, semantic_problems
from trellis.api.config.problems import InvalidConfiguration, Problem
from trellis.api.config.structure import structural_problems
from trellis.api.config.types import API_VERSION, KIND, OperatorConfiguration

_IDENTITY = {"apiVersion": API_VERSION, "kind": KIND}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, and a warning for every key that was given and does nothing here."""

    configuration: OperatorConfiguration
    warnings: tuple[str, ...] = ()


def load(text: str) -> Loaded:
    """Raises InvalidConfiguration with every fault there is, not only the first."""
    try:
        document = strictyaml.load(text)
    except strictyaml.InvalidYaml as error:
        raise InvalidConfiguration([str(error)]) from error
    if not isinstance(document, dict):
        what, remedy = "is not a configuration", f"write a mapping with kind: {KIND}"
        raise InvalidConfiguration([Problem("", document, what, remedy)])
    content = {key: value for key, value in document.items() if key not in _IDENTITY}
    problems = [
        *_identity_problems(document),
        *structural_problems(content, OperatorConfiguration),
    ]
    if problems:
        raise InvalidConfiguration(problems)
    # Keys without a value are as good as left out, as in any manifest.
    encoded = msgspec.json.encode(_without_nulls(content))
    configuration = msgspec.json.decode(encoded, type=OperatorConfiguration)
    if problems := list(semantic_problems(configuration)):
        raise InvalidConfiguration(problems)
    return Loaded(configuration, tuple(inert_keys(content)))


def _identity_problems(document: dict[str, Any]) -> list[Problem]:
    return [
        Problem(key, document.get(key), "is not what this file must say", f"write {key}: {value}")
        for key, value in _IDENTITY.items()
        if document.get(key) != value
    ]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value
