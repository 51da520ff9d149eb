# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a lab.

LabError
├── CannotBuild       Go is missing, or failed
│   └── Unreachable   the way to the module proxy is missing
├── NotBuilt          the binary is not in the cache
├── NameTaken         another lab of that name, or on that data folder, is running
└── ComponentFailed   a component ended by itself, or did not come up in time
"""

from __future__ import annotations


class LabError(Exception):
    """Its message is one a user can act on."""


class CannotBuild(LabError):
    pass


class Unreachable(CannotBuild):
    pass


class NotBuilt(LabError):
    pass


class NameTaken(LabError):
    pass


class ComponentFailed(LabError):
    def __init__(self, component: str, what: str, tail: str) -> None:
        super().__init__(f"{component} {what}" + (f"\n{tail}" if tail else ""))
        self.component = component
