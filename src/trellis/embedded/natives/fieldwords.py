# SPDX-License-Identifier: Apache-2.0
"""Problems of fields whose words are not those of the usual constructors."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.embedded.fielderrors import INVALID, FieldError


@dataclass(frozen=True, slots=True)
class _Omitted(FieldError):
    """An invalid value that the message does not repeat."""

    @property
    def body(self) -> str:
        return f"Invalid value: {self.detail}"


def omitted(path: str, detail: str) -> FieldError:
    return _Omitted(INVALID, path, None, detail)
