# SPDX-License-Identifier: Apache-2.0
"""What Kubernetes' own kinds do beyond plain CRUD: defaults, preparation, validation, subresources.

Everything here is a function of the objects it is given: it never stores, and it reads the store
only through the reader of the circumstances.
"""

from __future__ import annotations

from trellis.embedded.natives.facts import Facts, facts_of, selectable_fields
from trellis.embedded.natives.registry import strategy_of

__all__ = ["Facts", "facts_of", "selectable_fields", "strategy_of"]
