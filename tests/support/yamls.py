# SPDX-License-Identifier: Apache-2.0
"""Reading long YAML of our own."""

from __future__ import annotations

from typing import Any

import yaml

# The one in C where there is one: the definitions are long.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def documents(text: str) -> tuple[Any, ...]:
    return tuple(yaml.load_all(text, Loader=LOADER))
