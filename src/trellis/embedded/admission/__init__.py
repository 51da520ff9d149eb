# SPDX-License-Identifier: Apache-2.0
"""What stands between a write and the store: built-in plugins, webhooks and policies."""

from __future__ import annotations

from trellis.embedded.admission.admission import Admission, Plugins
from trellis.embedded.admission.callers import Callers
from trellis.embedded.admission.surroundings import Catalogue, Surroundings
from trellis.embedded.admission.typechecks import policy_status
from trellis.embedded.admission.warning_headers import warning_headers

__all__ = [
    "Admission",
    "Callers",
    "Catalogue",
    "Plugins",
    "Surroundings",
    "policy_status",
    "warning_headers",
]
