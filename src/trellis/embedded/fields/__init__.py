# SPDX-License-Identifier: Apache-2.0
"""Who owns which field of an object, and server-side apply, which goes by that.

It never stores, defaults or validates an object, and never looks at what its fields mean.
"""

from trellis.embedded.fields.applying import applied
from trellis.embedded.fields.entries import Manager, manager_name, problem
from trellis.embedded.fields.scaling import from_scale, to_scale
from trellis.embedded.fields.updating import same_but_for_times, updated
from trellis.embedded.fields.validation import manager_errors, validate_entries

__all__ = [
    "Manager",
    "applied",
    "from_scale",
    "manager_errors",
    "manager_name",
    "problem",
    "same_but_for_times",
    "to_scale",
    "updated",
    "validate_entries",
]
