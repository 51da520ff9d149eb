# SPDX-License-Identifier: Apache-2.0
"""Who asks and what they may do: tokens, impersonation, RBAC, and reviews of all three."""

from __future__ import annotations

from trellis.embedded.access.access import Access, user_info
from trellis.embedded.access.jwt import SigningKey
from trellis.embedded.access.reading import Reader

__all__ = ["Access", "Reader", "SigningKey", "user_info"]
